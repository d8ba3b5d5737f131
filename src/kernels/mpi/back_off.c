/* A rank that tries again and again, and lets other ranks go first. */
#include "mpi/back_off.h"

#include <mpi.h>
#include <sched.h>

#include "mpi/checked.h"
#include "mpi/world.h"

void back_off(int *calls, int most)
{
    int arrived = 0;
    for (int i = 0; i < *calls; i++) {
        CHECKED(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world_communicator, &arrived,
                           MPI_STATUS_IGNORE));
    }
    if (*calls < most) {
        *calls *= 2;
    } else {
        sched_yield();
    }
}
