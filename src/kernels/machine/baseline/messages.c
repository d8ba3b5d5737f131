/* A round trip through a TCP socket of the loopback device: eight bytes there and back, both
 * processes blocked in recv() while they wait. */
#include <arpa/inet.h>
#include <errno.h>
#include <mpi.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/memory.h"
#include "machine/baseline/baseline.h"
#include "mpi/checked.h"
#include "mpi/world.h"
#include "slots/messages.h"

static bool send_word(int socket, int64_t word)
{
    return send(socket, &word, sizeof word, MSG_NOSIGNAL) == (ssize_t)sizeof word;
}

static bool receive_word(int socket, int64_t *word)
{
    return recv(socket, word, sizeof *word, MSG_WAITALL) == (ssize_t)sizeof *word;
}

static struct sockaddr_in loopback(in_port_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* At the partner: make a socket that listens at a port that the system chooses; -1 on failure. */
static int listen_at(in_port_t *port)
{
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
        listen(listener, 1) == 0 &&
        getsockname(listener, (struct sockaddr *)&address, &length) == 0) {
        *port = address.sin_port;
        return listener;
    }
    if (listener >= 0) {
        close(listener);
    }
    return -1;
}

static int connect_to(in_port_t port)
{
    const struct sockaddr_in address = loopback(port);
    const int connected = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connected >= 0 &&
        connect(connected, (const struct sockaddr *)&address, sizeof address) != 0) {
        close(connected);
        return -1;
    }
    return connected;
}

static bool open_socket(struct experiment *experiment)
{
    const MPI_Comm communicator = world_communicator;
    const int rank = experiment->launch->rank;
    const int at_once = 1;
    in_port_t port = 0;
    int listener = -1;
    int why = 0;
    strcpy(experiment->check.name, rank == PARTNER ? "received" : "echoed");
    experiment->source = allocate((size_t)experiment->burst, WORD_BYTES);
    experiment->received = allocate((size_t)experiment->burst, WORD_BYTES);
    if (rank == PARTNER) {
        listener = listen_at(&port);
        why = errno;
    }
    CHECKED(MPI_Bcast(&port, sizeof port, MPI_BYTE, PARTNER, communicator));
    if (rank == ORIGIN && port != 0) {
        experiment->socket = connect_to(port);
        why = errno;
    }
    /* connect() succeeds before accept(), so no rank waits for a connection that failed. */
    int connected = experiment->socket >= 0;
    CHECKED(MPI_Bcast(&connected, 1, MPI_INT, ORIGIN, communicator));
    if (rank == PARTNER && connected) {
        experiment->socket = accept(listener, NULL, NULL);
    }
    if (listener >= 0) {
        close(listener);
    }
    const bool ready = rank > ORIGIN || (experiment->socket >= 0 &&
                                         setsockopt(experiment->socket, IPPROTO_TCP, TCP_NODELAY,
                                                    &at_once, sizeof at_once) == 0);
    if (!ready) {
        record_status(experiment->record, CELL_UNSUPPORTED, "no TCP connection over 127.0.0.1: %s",
                      strerror(why));
    }
    int all_ready = ready;
    CHECKED(MPI_Allreduce(MPI_IN_PLACE, &all_ready, 1, MPI_INT, MPI_LAND, communicator));
    return all_ready;
}

static void close_socket(struct experiment *experiment)
{
    free(experiment->received);
    free(experiment->source);
    if (experiment->socket >= 0) {
        close(experiment->socket);
    }
}

static void forget_received(struct experiment *experiment)
{
    memset(experiment->received, 0, (size_t)experiment->burst * WORD_BYTES);
}

static void prepare_words(struct experiment *experiment)
{
    forget_received(experiment);
    message_fill(experiment->source, (int)experiment->burst, experiment->sample);
}

/* If a word could not be sent, the verification finds that it is missing. */
void round_trip(struct experiment *experiment, int64_t repeat)
{
    for (int64_t i = 0; i < repeat; i++) {
        if (send_word(experiment->socket, experiment->source[i])) {
            (void)receive_word(experiment->socket, &experiment->received[i]);
        }
    }
}

void echo(struct experiment *experiment)
{
    forget_received(experiment);
    for (int64_t i = 0; i < experiment->burst; i++) {
        if (receive_word(experiment->socket, &experiment->received[i])) {
            (void)send_word(experiment->socket, experiment->received[i]);
        }
    }
}

/* At both ends, after the sample. */
static void inspect_words(struct experiment *experiment)
{
    message_check(&experiment->check, experiment->received, (int)experiment->burst,
                  experiment->sample, experiment->sample);
}

static void verify_messages(struct experiment *experiment)
{
    if (experiment->launch->rank <= ORIGIN) {
        record_verification(experiment->record, experiment->check);
    }
}

const struct baseline_kind messages = {.open = open_socket,
                                       .close = close_socket,
                                       .prepare = prepare_words,
                                       .inspect = inspect_words,
                                       .verify = verify_messages};
