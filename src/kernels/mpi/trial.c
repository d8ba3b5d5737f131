/* A trial: the samples of a cell, taken by all ranks together. */
#include "mpi/trial.h"

#include <math.h>
#include <mpi.h>

#include "harness/cache.h"
#include "harness/plan.h"
#include "harness/watchdog.h"
#include "mpi/checked.h"
#include "mpi/world.h"

#define COLD_ROUNDS 4       /* the fastest decides on the bursts: others may have lost their core */
#define LONG_COLD_ROUNDS 12 /* if a kernel uses their time */
#define COLD_BURST 10
#define SETTLE_S 0.05

/* Make a burst of one of the timings. */
static double run_burst(const struct trial *trial, double (*go)(void *state, long long burst),
                        long long burst)
{
    const MPI_Comm communicator = world_communicator;
    watchdog_phase = "prepare";
    trial->prepare(trial->state, burst);
    if (options_flag(&trial->launch->options, FLUSH_CACHES)) {
        flush_caches(2 * largest_cache_bytes());
    }
    CHECKED(MPI_Barrier(communicator));
    watchdog_phase = "operations";
    const double slowest_s = go(trial->state, burst);
    watchdog_phase = "wait";
    CHECKED(MPI_Barrier(communicator));
    trial->check(trial->state, burst);
    return slowest_s;
}

/* All ranks, once in a launch: while all ranks compute, the system moves ranks apart that a
 * launcher started on one core. */
static void settle(struct launch *launch)
{
    static bool is_settled = false;
    if (!is_settled) {
        compute_for(&launch->compute, SETTLE_S);
        is_settled = true;
    }
}

/* Return the seconds of an operation in the fastest of some short bursts, at its slowest rank. */
static double warm_up(const struct trial *trial, long long longest)
{
    const long long burst = longest < COLD_BURST ? longest : COLD_BURST;
    const int rounds = trial->warmed == NULL ? COLD_ROUNDS : LONG_COLD_ROUNDS;
    double cold_s = INFINITY;
    for (int i = 0; i < rounds; i++) {
        double slowest_s = run_burst(trial, trial->go, burst);
        CHECKED(
            MPI_Allreduce(MPI_IN_PLACE, &slowest_s, 1, MPI_DOUBLE, MPI_MAX, world_communicator));
        cold_s = fmin(cold_s, slowest_s);
    }
    return cold_s / (double)burst;
}

/* Take a sample that counts, with each of its timings. */
static void take_sample(const struct trial *trial, long long burst, struct series **times)
{
    const struct sample_timing only = {.time = trial->time, .go = trial->go};
    const struct sample_timing *timings = trial->timing_count > 0 ? trial->timings : &only;
    for (int i = 0; i == 0 || i < trial->timing_count; i++) {
        const double passed_s = run_burst(trial, timings[i].go, burst);
        if (timings[i].time != NULL && passed_s > 0) {
            series_keep(trial->record, &times[i], timings[i].time, "s", burst,
                        passed_s / (double)burst);
        }
    }
}

static void take(const struct trial *trial)
{
    const struct options *asked = &trial->launch->options;
    const long long asked_burst = options_integer(asked, "burst");
    const long long longest = asked_burst < trial->longest ? asked_burst : trial->longest;
    const double one_s = warm_up(trial, longest);
    const struct plan plan = plan_bursts(
        (struct plan){.burst = longest, .samples = options_integer(asked, "samples")},
        trial->warmed == NULL ? one_s : world_greatest(trial->warmed(trial->state, one_s)),
        options_number(asked, "budget-s"));
    struct series *times[TIMINGS_MAX] = {NULL};
    for (long long i = 0; i < plan.samples; i++) {
        take_sample(trial, plan.burst, times);
        if (trial->keep != NULL) {
            trial->keep(trial->state, plan.burst);
        }
    }
}

/* Bursts of one operation that begin while a rank computes. */
struct met {
    const struct trial *trial;
    struct series *behind; /* at a rank that accesses */
};

static void prepare_one(void *state)
{
    const struct trial *trial = ((struct met *)state)->trial;
    watchdog_phase = "prepare";
    trial->prepare(trial->state, 1);
    CHECKED(MPI_Barrier(world_communicator));
    watchdog_phase = "operations";
}

static struct compute_sample compute_once(void *state, double length_s)
{
    const struct trial *trial = ((struct met *)state)->trial;
    return trial->compute(trial->state, length_s);
}

static void go_once(void *state)
{
    const struct trial *trial = ((struct met *)state)->trial;
    trial->go(trial->state, 1);
}

static void conclude_one(void *state)
{
    const struct met *met = state;
    watchdog_phase = "wait";
    CHECKED(MPI_Barrier(world_communicator));
    met->trial->check(met->trial->state, 1);
    if (met->behind != NULL) {
        series_add(met->behind, 1);
    }
}

static void meet(const struct trial *trial)
{
    const struct options *asked = &trial->launch->options;
    struct met met = {.trial = trial};
    const struct meetings meeting = {.launch = trial->launch,
                                     .record = trial->record,
                                     .part = trial->part,
                                     .compute_s = 1e-3 * options_number(asked, "compute-ms"),
                                     .samples = options_integer(asked, "computing-samples"),
                                     .state = &met,
                                     .prepare = prepare_one,
                                     .compute = trial->compute == NULL ? NULL : compute_once,
                                     .go = go_once,
                                     .conclude = conclude_one};
    if (trial->is_behind && trial->part == ACCESSES) {
        met.behind = record_series(trial->record, "behind", "flag", 1);
    }
    meeting_take(&meeting);
}

void trial_run(const struct trial *trial)
{
    settle(trial->launch);
    (trial->meets ? meet : take)(trial);
}
