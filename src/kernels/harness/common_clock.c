/* Whether all ranks have one clock, and a start that all ranks have in common. */
#include "harness/common_clock.h"

#include "harness/launch.h"
#include "harness/world.h"

#define CLOCK_ROUNDS 5

/* All hosts of a machine have one CLOCK_MONOTONIC, unless a time namespace shifts it. So it is
 * tested, too: each rank's stamp between two barriers must lie between the stamps that rank 0 takes
 * before the first barrier and after the second. */
bool clock_is_global(const struct launch *launch)
{
    double stamps_s[CLOCK_ROUNDS], ends_s[CLOCK_ROUNDS][2];
    bool agree = host_machines(&launch->host) == 1;
    for (int round = 0; round < CLOCK_ROUNDS; round++) {
        ends_s[round][0] = clock_now_s();
        world_barrier();
        stamps_s[round] = clock_now_s();
        world_barrier();
        ends_s[round][1] = clock_now_s();
    }
    world_broadcast(ends_s, sizeof ends_s);
    for (int round = 0; round < CLOCK_ROUNDS; round++) {
        agree = agree && ends_s[round][0] <= stamps_s[round] && stamps_s[round] <= ends_s[round][1];
    }
    return world_greatest(agree ? 0 : 1) == 0;
}

double launch_common_start(const struct launch *launch)
{
    world_barrier();
    double start_s = clock_now_s();
    if (launch->clock_is_global) {
        world_broadcast(&start_s, sizeof start_s);
    }
    world_barrier();
    return start_s;
}
