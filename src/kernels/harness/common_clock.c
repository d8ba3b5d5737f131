/* Do stamps of different ranks mean the same? And a start that all ranks have in common. */
#include "harness/common_clock.h"

#include <mpi.h>

#include "harness/launch.h"
#include "harness/watchdog.h"

#define CLOCK_ROUNDS 20

/* Exchange stamps with rank `other`; rank 0 returns whether its stamp ever fell outside ours. */
static bool stamps_agree(const struct launch *launch, int other)
{
    bool agree = true;
    for (int round = 0; round < CLOCK_ROUNDS; round++) {
        double stamp_s = 0;
        if (launch->rank == other) {
            CHECKED(
                MPI_Recv(&stamp_s, 1, MPI_DOUBLE, 0, 0, launch->communicator, MPI_STATUS_IGNORE));
            stamp_s = clock_now_s();
            CHECKED(MPI_Send(&stamp_s, 1, MPI_DOUBLE, 0, 0, launch->communicator));
        } else if (launch->rank == 0) {
            const double before_s = clock_now_s();
            CHECKED(MPI_Send(&stamp_s, 1, MPI_DOUBLE, other, 0, launch->communicator));
            CHECKED(MPI_Recv(&stamp_s, 1, MPI_DOUBLE, other, 0, launch->communicator,
                             MPI_STATUS_IGNORE));
            agree = agree && before_s <= stamp_s && stamp_s <= clock_now_s();
        }
    }
    return agree;
}

/* One machine has one CLOCK_MONOTONIC, whatever its hosts are called, unless a time namespace
 * shifts it: so it is tried, too. */
bool clock_is_global(const struct launch *launch)
{
    int global = host_machines(&launch->host) == 1;
    for (int other = 1; other < launch->ranks && global; other++) {
        if (!stamps_agree(launch, other)) {
            global = 0;
        }
        CHECKED(MPI_Bcast(&global, 1, MPI_INT, 0, launch->communicator));
    }
    return global;
}

double launch_common_start(const struct launch *launch)
{
    CHECKED(MPI_Barrier(launch->communicator));
    double start_s = clock_now_s();
    if (launch->clock_is_global) {
        CHECKED(MPI_Bcast(&start_s, 1, MPI_DOUBLE, 0, launch->communicator));
    }
    CHECKED(MPI_Barrier(launch->communicator));
    return start_s;
}
