/* The samples: each origin's access to a target that is in its state. */
#include <math.h>

#include "harness/watchdog.h"
#include "mpi/await.h"
#include "mpi/checked.h"
#include "mpi/world.h"
#include "stfc/progress/experiment.h"

/* How many times as long the target stays in its state in a sample that is taken again. */
#define RETAKE_LENGTHENS 4.0

/* Each series has one sample for each access, so samples with the same number belong together. */
struct all_series {
    struct series *begin, *issue, *wait, *complete, *elapsed, *issue_stamp, *entry_stamp,
        *exit_stamp, *requested, *compute, *remaining, *valid, *run_delay, *switches,
        *access_run_delay, *visits, *visits_remaining, *released;
    struct series *bystander_entry, *bystander_exit; /* only at a bystander */
};

static struct all_series make_series(struct experiment *experiment)
{
    struct record *record = experiment->record;
    struct all_series all = {
        .begin = record_series(record, "begin", "s", 1),
        .issue = record_series(record, "issue", "s", 1),
        .complete = record_series(record, "complete", "s", 1),
        .elapsed = record_series(record, "elapsed", "s", 1),
        .issue_stamp = record_series(record, "issue_stamp", "s", 1),
        .entry_stamp = record_series(record, "entry_stamp", "s", 1),
        .exit_stamp = record_series(record, "exit_stamp", "s", 1),
        .requested = record_series(record, "compute_requested", "s", 1),
        .compute = record_series(record, "compute", "s", 1),
        .remaining = record_series(record, "remaining", "s", 1),
        .valid = record_series(record, "valid", "flag", 1),
        .run_delay = record_series(record, "compute_run_delay", "s", 1),
        .switches = record_series(record, "compute_switches", "count", 1),
        .access_run_delay = record_series(record, "access_run_delay", "s", 1),
    };
    if (experiment->operation->request_based) {
        all.wait = record_series(record, "wait", "s", 1);
    }
    if (experiment->target_state->visits) {
        all.visits = record_series(record, "visits", "count", 1);
        all.visits_remaining = record_series(record, "visits_remaining", "count", 1);
    }
    if (experiment->synchronisation->kind != PASSIVE) {
        all.released = record_series(record, "released", "flag", 1);
    }
    return all;
}

/* An access and its origin's observations meanwhile. */
struct observed {
    struct access access;
    double run_delay_s;   /* waits of this thread for a core since it saw the target's flag */
    double entered_mpi_s; /* its first MPI call while it waited for the flag; NAN: none */
    uint64_t visits_before, visits_after; /* the target's visits to MPI so far */
};

/* At the origin, after the target has left its state. */
static void add_sample(const struct experiment *experiment, const struct all_series *all,
                       const struct observed *observed, double requested_s)
{
    const struct access *access = &observed->access;
    await_word(&experiment->page->left, experiment->slots.sample, world_communicator);
    const struct presence *presence = &experiment->page->presence;
    const double start_s = experiment->start_s;
    series_add(all->begin, access->begun_s - access->begin_s);
    series_add(all->issue, access->issued_s - access->begun_s);
    series_add(all->complete, access->completed_s - access->issued_s);
    series_add(all->elapsed, access->completed_s - access->begin_s);
    series_add(all->issue_stamp, access->begin_s - start_s);
    series_add(all->entry_stamp, presence->entry_s - start_s);
    series_add(all->exit_stamp, presence->exit_s - start_s);
    series_add(all->requested, requested_s);
    series_add(all->compute, presence->exit_s - presence->entry_s);
    series_add(all->remaining, presence->exit_s - access->begin_s);
    series_add(all->valid,
               presence->entry_s <= access->begin_s && access->begin_s < presence->exit_s);
    series_add(all->run_delay, presence->run_delay_s);
    series_add(all->switches, presence->involuntary_switches);
    series_add(all->access_run_delay, observed->run_delay_s);
    if (all->wait != NULL) {
        series_add(all->wait, access->waited_s - access->issued_s);
    }
    if (all->visits != NULL) {
        const uint64_t last = atomic_load(&experiment->page->visits);
        series_add(all->visits, (double)(observed->visits_after - observed->visits_before));
        series_add(all->visits_remaining, (double)(last - observed->visits_before));
    }
    if (all->released != NULL) {
        /* false if this origin did not call MPI while it waited: the stamp is NAN */
        series_add(all->released, experiment->page->opened_s >= observed->entered_mpi_s);
    }
}

/* The target's part: it opens its epoch, stays in its state, and closes its epoch. */
static void be_target(struct experiment *experiment, double length_s)
{
    struct page *page = experiment->page;
    watchdog_phase = "target";
    experiment->synchronisation->target_open(&experiment->epoch);
    page->opened_s = clock_now_s();
    atomic_store(&page->entered, experiment->slots.sample);
    page->presence = experiment->target_state->stay(experiment, length_s);
    atomic_store(&page->left, experiment->slots.sample);
    experiment->synchronisation->target_close(&experiment->epoch);
}

/* Wait outside MPI for the target's flag; after some time call MPI, because the target's part of
 * the epoch may need this. Returns the stamp of the first of these calls; NAN: there was none. */
static double await_target(const struct experiment *experiment)
{
    return await_word(&experiment->page->entered, experiment->slots.sample, world_communicator);
}

/* An origin's part. */
static struct observed be_origin(struct experiment *experiment)
{
    struct page *page = experiment->page;
    const double delta_s = 1e-6 * options_number(&experiment->launch->options, "delta-us");
    watchdog_phase = "open";
    experiment->synchronisation->open(&experiment->epoch);
    watchdog_phase = "await target";
    const double entered_mpi_s = await_target(experiment);
    const double issue_s = clock_now_s() + delta_s;
    const double run_delay_before_s = run_delay_s();
    while (clock_now_s() < issue_s) {
    }
    watchdog_phase = "access";
    const uint64_t visits_before = atomic_load(&page->visits);
    const struct access access = make_accesses(experiment, 1, true);
    const struct observed observed = {.access = access,
                                      .run_delay_s = run_delay_s() - run_delay_before_s,
                                      .entered_mpi_s = entered_mpi_s,
                                      .visits_before = visits_before,
                                      .visits_after = atomic_load(&page->visits)};
    watchdog_phase = "finish";
    experiment->synchronisation->finish(&experiment->epoch);
    return observed;
}

/* The part of all other ranks: a bystander computes as soon as the target does, others wait; all
 * take part in a collective epoch. */
static void be_another(struct experiment *experiment, double length_s, const struct all_series *all)
{
    const bool collective = experiment->synchronisation->kind == COLLECTIVE_ACTIVE;
    watchdog_phase = "stand by";
    if (collective) {
        experiment->synchronisation->target_open(&experiment->epoch);
    }
    if (experiment->is_bystander) {
        await_target(experiment);
        const struct compute_sample sample = compute_for(&experiment->launch->compute, length_s);
        if (all != NULL) {
            series_add(all->bystander_entry, sample.begin_s - experiment->start_s);
            series_add(all->bystander_exit, sample.end_s - experiment->start_s);
        }
    }
    if (collective) {
        experiment->synchronisation->target_close(&experiment->epoch);
    }
}

/* All ranks, after a sample: did an origin wait for a core during its access? Then it could not see
 * when the target had come to MPI. */
static bool an_origin_lost_its_core(const struct experiment *experiment,
                                    const struct observed *observed)
{
    const struct presence *presence = &experiment->page->presence;
    const double limit_s = LOST_CORE_SHARE * (presence->exit_s - presence->entry_s);
    int lost = observed->run_delay_s > limit_s;
    CHECKED(MPI_Allreduce(MPI_IN_PLACE, &lost, 1, MPI_INT, MPI_MAX, world_communicator));
    return lost;
}

/* An access of each origin to a target that stays `length_s` in its state; `all` is NULL in the
 * warm-up. */
static struct observed run_sample(struct experiment *experiment, double length_s,
                                  const struct all_series *all)
{
    const MPI_Comm communicator = world_communicator;
    struct slots *slots = &experiment->slots;
    struct observed observed = {0};
    watchdog_phase = "prepare";
    slots_prepare(slots, 1);
    pass_on(experiment);
    CHECKED(MPI_Barrier(communicator));
    if (experiment->is_target) {
        be_target(experiment, length_s);
    } else if (experiment->is_origin) {
        observed = be_origin(experiment);
    } else {
        be_another(experiment, length_s, all);
    }
    CHECKED(MPI_Barrier(communicator));
    if (experiment->is_origin && all != NULL) {
        add_sample(experiment, all, &observed, length_s);
    }
    pass_on(experiment);
    slots_check(slots, 1);
    return observed;
}

/* ---- All samples of a cell ---- */

/* The lengths of all samples, in an order that is random and the same on all ranks. */
static size_t plan_lengths(const struct experiment *experiment, double *plan)
{
    const struct options *asked = &experiment->launch->options;
    const struct target_state *state = experiment->target_state;
    const bool helped = state->helper != NULL || state->has_ghost;
    const size_t samples = (size_t)options_integer(asked, helped ? "helper-samples" : "samples");
    double lengths_ms[LENGTHS_MAX];
    const size_t lengths = options_numbers(asked, helped ? "helper-lengths-ms" : "lengths-ms",
                                           lengths_ms, LENGTHS_MAX);
    const size_t count = lengths * samples;
    uint64_t random =
        (uint64_t)options_integer(asked, "seed") * 1000003u + experiment->cell->index * 1009u;
    for (size_t i = 0; i < count; i++) {
        const size_t other = (size_t)(random_unit(&random) * (double)(i + 1));
        plan[i] = plan[other];
        plan[other] = experiment->target_state->leaves ? 1e-3 * lengths_ms[i / samples] : 0.0;
    }
    return count;
}

/* Take one sample. If the target visits MPI and an origin lost its core, take the sample again, at
 * most as often as asked for. All samples are kept. Returns how many.
 *
 * Another program takes an origin's core for a few ticks of the scheduler. In a state of many
 * ticks, the visits still show whether the access was early. */
static size_t take_sample(struct experiment *experiment, double length_s,
                          const struct all_series *all, size_t room)
{
    const size_t asked = (size_t)options_integer(&experiment->launch->options, "retakes");
    const bool may_lose = experiment->target_state->visits && length_s > 0;
    const size_t most = 1 + (!may_lose ? 0 : asked < room ? asked : room);
    size_t taken = 0;
    struct observed observed;
    do {
        observed = run_sample(experiment, length_s * (taken > 0 ? RETAKE_LENGTHENS : 1.0), all);
        taken++;
    } while (taken < most && an_origin_lost_its_core(experiment, &observed));
    return taken;
}

void take_samples(struct experiment *experiment)
{
    double plan[SERIES_SAMPLES_MAX] = {0};
    struct all_series all = {0};
    size_t taken = 0;
    const size_t count = plan_lengths(experiment, plan);
    const long long warm_up = options_integer(&experiment->launch->options, "warm-up");
    if (experiment->is_origin) {
        all = make_series(experiment);
    } else if (experiment->is_bystander) {
        all.bystander_entry = record_series(experiment->record, "bystander_entry_stamp", "s", 1);
        all.bystander_exit = record_series(experiment->record, "bystander_exit_stamp", "s", 1);
    }
    for (long long i = 0; i < warm_up; i++) {
        run_sample(experiment, 0.0, NULL);
    }
    for (size_t i = 0; i < count; i++) {
        taken += take_sample(experiment, plan[i], &all, SERIES_SAMPLES_MAX - taken - (count - i));
    }
}
