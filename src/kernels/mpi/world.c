/* The world of an MPI. */
#include "mpi/world.h"

#include <stdio.h>
#include <stdlib.h>

#include "harness/memory.h"
#include "mpi/checked.h"

#define WARM_UP_MESSAGES 1000
#define WARM_UP_TAG 0

MPI_Comm world_communicator;

/* By enum thread_level. */
static const int thread_levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                                    MPI_THREAD_MULTIPLE};

struct world_library world_library(void)
{
    struct world_library library = {.standard = "MPI", .first_function = "MPI_Init"};
    _Static_assert(sizeof library.version > MPI_MAX_LIBRARY_VERSION_STRING, "too short");
    int length = 0, version = 0, subversion = 0;
    CHECKED(MPI_Get_library_version(library.version, &length));
    CHECKED(MPI_Get_version(&version, &subversion));
    snprintf(library.standard_version, sizeof library.standard_version, "%d.%d", version,
             subversion);
#ifdef MPI_ABI_VERSION
    snprintf(library.abi, sizeof library.abi, "%d.%d", MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
#endif
    return library;
}

int world_rank(void)
{
    int rank = 0;
    CHECKED(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    return rank;
}

int world_ranks(void)
{
    int ranks = 0;
    CHECKED(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    return ranks;
}

/* Before MPI_Init_thread and after MPI_Finalize, MPI_Abort would end only this process, by an exit,
 * and the launcher would wait for the other ranks. If a signal ends a process, launchers end all
 * ranks. */
_Noreturn void world_abort(int code)
{
    int has_started = 0, has_ended = 0;
    MPI_Initialized(&has_started);
    MPI_Finalized(&has_ended);
    if (has_started && !has_ended) {
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    abort();
}

/* The size that the library reports is compared with the ranks that take part in a sum. */
static void compare_size(void)
{
    int counted = 1;
    CHECKED(MPI_Allreduce(MPI_IN_PLACE, &counted, 1, MPI_INT, MPI_SUM, world_communicator));
    if (counted != world_ranks()) {
        char message[96];
        snprintf(message, sizeof message, "found %d ranks, expected %d, which take part in a sum",
                 world_ranks(), counted);
        watchdog_failed("MPI_Comm_size", message);
    }
}

/* The library reports its thread level in two calls; the lower level counts. */
static int lower_level(int provided)
{
    int found = provided;
    CHECKED(MPI_Query_thread(&found));
    return found < provided ? found : provided;
}

enum thread_level world_start(enum thread_level required)
{
    int provided = MPI_THREAD_SINGLE;
    enum thread_level level = THREAD_SINGLE;
    CHECKED(MPI_Init_thread(NULL, NULL, thread_levels[required], &provided));
    CHECKED(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECKED(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECKED(MPI_Comm_dup(MPI_COMM_WORLD, &world_communicator));
    CHECKED(MPI_Comm_set_errhandler(world_communicator, MPI_ERRORS_RETURN));
    compare_size();
    provided = lower_level(provided);
    while (thread_levels[level] != provided) {
        level++;
    }
    return level;
}

void world_end(void)
{
    CHECKED(MPI_Comm_free(&world_communicator));
    CHECKED(MPI_Finalize());
}

void world_barrier(void)
{
    CHECKED(MPI_Barrier(world_communicator));
}

void world_broadcast(void *data, size_t size_bytes)
{
    CHECKED(MPI_Bcast(data, (int)size_bytes, MPI_BYTE, 0, world_communicator));
}

void world_gather(const void *own, void *all, size_t size_bytes)
{
    CHECKED(MPI_Allgather(own, (int)size_bytes, MPI_BYTE, all, (int)size_bytes, MPI_BYTE,
                          world_communicator));
}

void world_gather_texts(const char *own, char *all, const size_t *lengths)
{
    const int ranks = world_ranks(), rank = world_rank();
    int *counts = allocate((size_t)ranks, sizeof counts[0]);
    int *begins = allocate((size_t)ranks + 1, sizeof begins[0]);
    for (int i = 0; i < ranks; i++) {
        counts[i] = (int)lengths[i];
        begins[i + 1] = begins[i] + counts[i];
    }
    CHECKED(MPI_Gatherv(own, counts[rank], MPI_CHAR, all, counts, begins, MPI_CHAR, 0,
                        world_communicator));
    free(begins);
    free(counts);
}

double world_greatest(double own)
{
    CHECKED(MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_MAX, world_communicator));
    return own;
}

/* The value of message `number` from one rank to another. */
static int64_t warm_up_value(int from, int to, int number)
{
    return ((int64_t)from << 40) + ((int64_t)to << 20) + number;
}

/* Exchange messages with all other ranks in turn; all messages of a pair are under way at once.
 * Some libraries use new shared memory for each of the first messages, and these take longer: under
 * Intel MPI, the first 500 operations between two ranks take eight times as long as later ones. */
void world_warm_up(void)
{
    const int ranks = world_ranks(), rank = world_rank();
    int64_t *sent = allocate(WARM_UP_MESSAGES, sizeof sent[0]);
    int64_t *received = allocate(WARM_UP_MESSAGES, sizeof received[0]);
    MPI_Request *requests = allocate(2 * WARM_UP_MESSAGES, sizeof requests[0]);
    for (int distance = 1; distance < ranks; distance++) {
        const int to = (rank + distance) % ranks, from = (rank - distance + ranks) % ranks;
        for (int i = 0; i < WARM_UP_MESSAGES; i++) {
            CHECKED(MPI_Irecv(&received[i], 1, MPI_INT64_T, from, WARM_UP_TAG, world_communicator,
                              &requests[i]));
        }
        for (int i = 0; i < WARM_UP_MESSAGES; i++) {
            sent[i] = warm_up_value(rank, to, i);
            CHECKED(MPI_Isend(&sent[i], 1, MPI_INT64_T, to, WARM_UP_TAG, world_communicator,
                              &requests[WARM_UP_MESSAGES + i]));
        }
        CHECKED(MPI_Waitall(2 * WARM_UP_MESSAGES, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < WARM_UP_MESSAGES; i++) {
            if (received[i] != warm_up_value(from, rank, i)) {
                watchdog_failed("MPI_Irecv",
                                "a message of the warm-up has other data than were sent");
            }
        }
    }
    free(requests);
    free(received);
    free(sent);
}

_Noreturn void mpi_failed(const char *call, int code)
{
    char message[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    MPI_Error_string(code, message, &length);
    watchdog_failed(call, message);
}
