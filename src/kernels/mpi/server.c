/* A server: it answers requests of other ranks, as the handlers of active messages do. */
#include "mpi/server.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"
#include "mpi/checked.h"
#include "mpi/team.h"
#include "mpi/world.h"

#define PAYLOAD_TAG 1
#define ANSWER_TAG 2

/* The beginning of a request; a short payload follows. */
struct lead {
    uint64_t payload_bytes;
    char header[SERVER_HEADER_BYTES];
};

bool server_thread_is_supported(const struct launch *launch, struct record *record)
{
    return threads_may_call(launch, record, "a server thread needs");
}

void server_hold(struct server *server)
{
    pthread_mutex_lock(&server->guard);
}

void server_let(struct server *server)
{
    pthread_mutex_unlock(&server->guard);
}

/* ---- The server ---- */

/* Receive a payload that did not come with its request. */
static void receive_payload(struct server *server, struct request *request)
{
    if (request->payload_bytes > server->payload_room) {
        free(server->payload);
        server->payload = allocate_pages(request->payload_bytes);
        server->payload_room = request->payload_bytes;
    }
    CHECKED(MPI_Recv(server->payload, (int)request->payload_bytes, MPI_BYTE, request->source,
                     PAYLOAD_TAG, server->replies, MPI_STATUS_IGNORE));
    request->payload = server->payload;
}

/* An error ends the launch at once, and not when the thread is joined: ranks wait for answers. */
static void serve(struct server *server, int releases)
{
    const struct lead *lead = (const struct lead *)server->incoming;
    while (releases > 0) {
        MPI_Status status;
        CHECKED(MPI_Recv(server->incoming, (int)(sizeof *lead + SERVER_SHORT_BYTES), MPI_BYTE,
                         MPI_ANY_SOURCE, MPI_ANY_TAG, server->requests, &status));
        if (status.MPI_TAG == SERVER_RELEASE_TAG) {
            releases--;
            continue;
        }
        struct request request = {.source = status.MPI_SOURCE,
                                  .tag = status.MPI_TAG,
                                  .header = lead->header,
                                  .payload = server->incoming + sizeof *lead,
                                  .payload_bytes = lead->payload_bytes};
        if (request.payload_bytes > SERVER_SHORT_BYTES) {
            receive_payload(server, &request);
        }
        server_hold(server);
        server->answer(server, &request);
        server->answered++;
        server_let(server);
    }
}

void server_serve(struct server *server)
{
    serve(server, server->ranks - 1);
}

/* All ranks release a thread, also the thread's own rank. A rank's requests arrive before its
 * release. */
static void *thread_main(void *argument)
{
    struct server *server = argument;
    serve(server, server->ranks);
    return NULL;
}

void server_answer(const struct server *server, const struct request *request, const void *data,
                   size_t data_bytes)
{
    CHECKED(
        MPI_Send(data, (int)data_bytes, MPI_BYTE, request->source, ANSWER_TAG, server->replies));
}

/* ---- The ranks that ask ---- */

void server_ask(struct server *server, int tag, const void *header, size_t header_bytes,
                const void *payload, size_t payload_bytes)
{
    struct lead *lead = (struct lead *)server->outgoing;
    const size_t short_bytes = payload_bytes <= SERVER_SHORT_BYTES ? payload_bytes : 0;
    lead->payload_bytes = payload_bytes;
    if (header_bytes > 0) {
        memcpy(lead->header, header, header_bytes);
    }
    if (short_bytes > 0) {
        memcpy(lead + 1, payload, short_bytes);
    }
    CHECKED(MPI_Send(server->outgoing, (int)(sizeof *lead + short_bytes), MPI_BYTE, server->rank,
                     tag, server->requests));
    if (short_bytes < payload_bytes) {
        CHECKED(MPI_Send(payload, (int)payload_bytes, MPI_BYTE, server->rank, PAYLOAD_TAG,
                         server->replies));
    }
    server->asked++;
}

void server_await(const struct server *server, void *data, size_t data_bytes)
{
    CHECKED(MPI_Recv(data, (int)data_bytes, MPI_BYTE, server->rank, ANSWER_TAG, server->replies,
                     MPI_STATUS_IGNORE));
}

void server_release(const struct server *server)
{
    CHECKED(MPI_Send(NULL, 0, MPI_BYTE, server->rank, SERVER_RELEASE_TAG, server->requests));
}

/* ---- Begin and end ---- */

static MPI_Comm duplicate(void)
{
    MPI_Comm communicator;
    CHECKED(MPI_Comm_dup(world_communicator, &communicator));
    CHECKED(MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN));
    return communicator;
}

void server_start(struct server *server)
{
    const size_t request_bytes = sizeof(struct lead) + SERVER_SHORT_BYTES;
    pthread_mutex_init(&server->guard, NULL);
    server->requests = duplicate();
    server->replies = duplicate();
    CHECKED(MPI_Comm_rank(world_communicator, &server->own_rank));
    CHECKED(MPI_Comm_size(world_communicator, &server->ranks));
    server->outgoing = allocate_pages(request_bytes);
    if (server->own_rank == server->rank) {
        server->incoming = allocate_pages(request_bytes);
        if (server->is_thread) {
            server->record->helper_threads++;
            server->thread = team_start(thread_main, server);
        }
    }
}

static void count(struct server *server)
{
    long long all[] = {server->asked, server->answered};
    CHECKED(MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_LONG_LONG, MPI_SUM, world_communicator));
    if (server->own_rank == server->rank) {
        record_verification(server->record, verify_exact("answered", all[1], all[0]));
    }
}

void server_stop(struct server *server)
{
    if (server->is_thread) {
        server_release(server);
        if (server->own_rank == server->rank) {
            pthread_join(server->thread, NULL);
        }
    }
    count(server);
    CHECKED(MPI_Comm_free(&server->requests));
    CHECKED(MPI_Comm_free(&server->replies));
    pthread_mutex_destroy(&server->guard);
    free(server->outgoing);
    free(server->incoming);
    free(server->payload);
}
