/* Find out whether other programs on the same cores have made all times of a cell longer. */
#include <math.h>
#include <mpi.h>

#include "harness/clock.h"
#include "mpi/checked.h"
#include "mpi/world.h"
#include "wire/round_trips/experiment.h"

/* Times are alike if they differ by at most this share of the shorter time plus ALIKE_S. */
#define ALIKE_SHARE 0.02
#define ALIKE_S 100e-6

/* Programs that share a core run alternately, for 1/250 s each. A rest is shorter than this time.
 * Each rest is longer than the last by STEP (golden ratio) times REST_S, modulo REST_S. */
#define REST_S 4e-3
#define STEP 0.618034

/* The least time of a message and its answer in this launch so far, for each kind of epoch. In an
 * active epoch, the message may wait for the target's call that opens the epoch. */
static double quickest_message_s[COLLECTIVE_ACTIVE + 1] = {INFINITY, INFINITY, INFINITY};

void rest(const struct experiment *experiment)
{
    const double steps = STEP * (double)experiment->messages.count;
    if (experiment->synchronisation->kind == PASSIVE) {
        clock_sleep(REST_S * (steps - floor(steps)));
    }
}

/* Insert a time into the list of the least times, which is in ascending order. */
static void keep_least(double least_s[ALIKE], double seconds)
{
    for (int i = 0; i < ALIKE; i++) {
        const double before_s = least_s[i];
        least_s[i] = fmin(before_s, seconds);
        seconds = fmax(before_s, seconds);
    }
}

void settle(struct experiment *experiment, double seconds, double message_s)
{
    double *quickest = &quickest_message_s[experiment->synchronisation->kind];
    experiment->message_s = fmin(experiment->message_s, message_s);
    *quickest = fmin(*quickest, message_s);
    keep_least(experiment->least_s, seconds);
}

static bool are_alike(double less_s, double more_s)
{
    return more_s <= (1 + ALIKE_SHARE) * less_s + ALIKE_S;
}

bool is_settled(const struct experiment *experiment)
{
    const double quickest_s = quickest_message_s[experiment->synchronisation->kind];
    int settled = are_alike(experiment->least_s[0], experiment->least_s[ALIKE - 1]) &&
                  are_alike(quickest_s, experiment->message_s);
    settled |= clock_now_s() > experiment->until_s;
    CHECKED(MPI_Bcast(&settled, 1, MPI_INT, experiment->messages.origin, world_communicator));
    return settled;
}
