/* To be preloaded: a network whose transfers take 10 ms; a known share of a transfer needs no call.
 *
 * KNOWN_NETWORK=by_itself: a transfer begins at MPI_Put, so that a late flush waits for nothing.
 * KNOWN_NETWORK=in_flush: a transfer begins at MPI_Win_flush. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRANSFER_NS 10000000L

static struct timespec put_at;

static void sleep_until_over(struct timespec begin)
{
    begin.tv_nsec += TRANSFER_NS;
    if (begin.tv_nsec >= 1000000000L) {
        begin.tv_sec++;
        begin.tv_nsec -= 1000000000L;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &begin, NULL);
}

int MPI_Put(const void *origin, int origin_count, MPI_Datatype origin_type, int rank,
            MPI_Aint place, int count, MPI_Datatype type, MPI_Win window)
{
    clock_gettime(CLOCK_MONOTONIC, &put_at);
    return PMPI_Put(origin, origin_count, origin_type, rank, place, count, type, window);
}

int MPI_Win_flush(int rank, MPI_Win window)
{
    struct timespec begin = put_at;
    if (strcmp(getenv("KNOWN_NETWORK"), "in_flush") == 0) {
        clock_gettime(CLOCK_MONOTONIC, &begin);
    }
    sleep_until_over(begin);
    return PMPI_Win_flush(rank, window);
}
