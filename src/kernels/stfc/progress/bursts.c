/* The uncontended latency: the origins make bursts, all at once, while nobody computes. */
#include "harness/watchdog.h"
#include "mpi/latency.h"
#include "stfc/progress/experiment.h"

static void prepare_burst(void *state, long long burst)
{
    struct experiment *experiment = state;
    slots_prepare_alone(&experiment->slots, burst);
}

static double make_burst(void *state, long long burst)
{
    struct experiment *experiment = state;
    const struct access access = make_accesses(experiment, burst, false);
    experiment->synchronisation->finish(&experiment->epoch);
    return access.completed_s - access.begin_s;
}

static void check_burst(void *state, long long burst)
{
    struct experiment *experiment = state;
    slots_check_alone(&experiment->slots, &experiment->transfer, burst);
}

/* The target's epochs during an origin's burst, and during the read-back after it. */
static void accompany_burst(void *state, long long burst)
{
    struct experiment *experiment = state;
    const enum epoch_kind kind = experiment->synchronisation->kind;
    const bool takes_part = experiment->is_target || kind == COLLECTIVE_ACTIVE;
    const long long epochs = burst + is_read_back(experiment->operation);
    for (long long i = 0; takes_part && kind != PASSIVE && i < epochs; i++) {
        experiment->synchronisation->target_open(&experiment->epoch);
        experiment->synchronisation->target_close(&experiment->epoch);
    }
}

static void follow_bursts(void *state, long long bursts, long long burst)
{
    slots_follow(&((struct experiment *)state)->slots, bursts, burst);
}

void take_latency(struct experiment *experiment)
{
    const struct timing timing = {.launch = experiment->launch,
                                  .cell = experiment->cell,
                                  .record = experiment->record,
                                  .state = experiment,
                                  .again = experiment->again,
                                  .makes = experiment->is_origin,
                                  .first = experiment->place == 1,
                                  .answers = experiment->answers,
                                  .alone = experiment->origins == 1 &&
                                           experiment->synchronisation->kind == PASSIVE,
                                  /* with a helper the ranks have no core of their own */
                                  .own_cores = experiment->target_state->helper == NULL,
                                  .longest = experiment->slots.count,
                                  .prepare = prepare_burst,
                                  .burst = make_burst,
                                  .check = check_burst,
                                  .accompany = accompany_burst,
                                  .follow = follow_bursts};
    watchdog_phase = "prepare";
    slots_prepare(&experiment->slots, experiment->slots.count);
    pass_on(experiment);
    latency_take(&timing);
    pass_on(experiment);
    slots_check(&experiment->slots, 0);
}
