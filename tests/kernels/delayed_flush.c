/* To be preloaded: every twentieth MPI_Win_flush of a process takes 5 ms more. */
#include <mpi.h>
#include <time.h>

#define EVERY 20

int MPI_Win_flush(int rank, MPI_Win window)
{
    static const struct timespec delay = {.tv_nsec = 5000000};
    static long calls;
    if (++calls % EVERY == 0) {
        nanosleep(&delay, NULL);
    }
    return PMPI_Win_flush(rank, window);
}
