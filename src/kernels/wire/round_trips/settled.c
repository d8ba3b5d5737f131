/* Which times another program on the same cores has made longer, and what is done against it. */
#include <math.h>
#include <mpi.h>

#include "harness/clock.h"
#include "mpi/checked.h"
#include "mpi/world.h"
#include "wire/round_trips/experiment.h"

/* Times are alike if one is longer by this share and this time at most. */
#define ALIKE_SHARE 0.02
#define ALIKE_S 50e-6

/* A rest is shorter than this: programs that share a core take it in turns of this length, at 250
 * turns a second. The rests go on in steps of this share (the golden ratio), which spreads them. */
#define REST_S 4e-3
#define STEP 0.618034

/* The least time of a message and its answer in this launch so far, for each kind of epoch: in an
 * active one it may have to wait for what the target has posted. */
static double quickest_message_s[COLLECTIVE_ACTIVE + 1] = {INFINITY, INFINITY, INFINITY};

void rest(const struct experiment *experiment)
{
    const double steps = STEP * (double)experiment->messages.count;
    clock_sleep(REST_S * (steps - floor(steps)));
}

/* Put a time where it belongs among the least ones, the least first. */
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
