/* Progress: does a one-sided operation complete while its target computes, or only when the target
 * comes back to MPI?
 *
 * After "Is MPI-2 suitable for quantum chemistry? Performance of passive target one-sided
 * communications", technical report, STFC, 2008, sections 3 and 4 (what the standard asks of a
 * target that makes no MPI call); IBM SG24-5611 (1999), section 3.5.1.4 (polling and interrupt
 * mode); MPI 4.1, the section on progress (strong and weak).
 *
 * One origin, one target. The target enters its state (computes, say) and raises a flag in memory
 * that both share outside MPI; delta later the origin issues one operation on the target's window.
 *
 * Timed, in seconds, at the origin: the call that begins the epoch, the operation's call, the calls
 * that complete it, each apart; with stamps of the issue and of the target's entry and exit on the
 * one clock, so that each sample says whether it met a computing target and what was left of the
 * compute. Where nobody computes: the price of an operation, from bursts of k.
 * Verified: every payload, with values that depend on the sample's number: the whole window at the
 * target, its gaps too, and all that is fetched; a helper thread was still there at the end. */
#include <math.h>
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness/helper.h"
#include "harness/launch.h"
#include "harness/memory.h"
#include "harness/shared_page.h"
#include "harness/watchdog.h"
#include "progress/experiment.h"
#include "progress/table.h"

#define SLOW_FACTOR 3.0
#define LENGTHS_MAX OPTION_NUMBERS_MAX
#define COLD_BURST 3 /* before the price; its time decides how long a burst may be */
#define SPARE_ELEMENTS 8

/* ---- Flavors: where the window's memory comes from. Displacements are in bytes. ---- */

static void create_window(struct experiment *experiment, MPI_Aint size_bytes)
{
    experiment->memory = allocate_pages((size_t)size_bytes);
    CHECKED(MPI_Win_create(experiment->memory, size_bytes, 1, MPI_INFO_NULL,
                           experiment->launch->communicator, &experiment->window));
}

static void allocate_window(struct experiment *experiment, MPI_Aint size_bytes)
{
    CHECKED(MPI_Win_allocate(size_bytes, 1, MPI_INFO_NULL, experiment->launch->communicator,
                             &experiment->memory, &experiment->window));
}

static void allocate_shared_window(struct experiment *experiment, MPI_Aint size_bytes)
{
    CHECKED(MPI_Win_allocate_shared(size_bytes, 1, MPI_INFO_NULL, experiment->launch->communicator,
                                    &experiment->memory, &experiment->window));
}

/* A dynamic window's displacements are the target's own addresses. */
static void create_dynamic_window(struct experiment *experiment, MPI_Aint size_bytes)
{
    const MPI_Comm communicator = experiment->launch->communicator;
    CHECKED(MPI_Win_create_dynamic(MPI_INFO_NULL, communicator, &experiment->window));
    CHECKED(MPI_Win_set_errhandler(experiment->window, MPI_ERRORS_RETURN));
    if (experiment->is_target) {
        experiment->memory = allocate_pages((size_t)size_bytes);
        CHECKED(MPI_Win_attach(experiment->window, experiment->memory, size_bytes));
        CHECKED(MPI_Get_address(experiment->memory, &experiment->displacement));
    }
    CHECKED(MPI_Bcast(&experiment->displacement, 1, MPI_AINT, experiment->target, communicator));
}

static void free_window(struct experiment *experiment)
{
    CHECKED(MPI_Win_free(&experiment->window));
}

static void free_window_and_memory(struct experiment *experiment)
{
    free_window(experiment);
    free(experiment->memory);
}

static void free_dynamic_window(struct experiment *experiment)
{
    if (experiment->is_target) {
        CHECKED(MPI_Win_detach(experiment->window, experiment->memory));
    }
    free_window_and_memory(experiment);
}

static const struct flavor flavors[] = {
    {"create", create_window, free_window_and_memory},
    {"allocate", allocate_window, free_window},
    {"shared", allocate_shared_window, free_window},
    {"dynamic", create_dynamic_window, free_dynamic_window},
};

/* ---- Target states: what the target does while the origin accesses its window. ---- */

/* The wait itself follows: in the barrier, or in the call that ends the target's part of an active
 * epoch. */
static struct presence stay_idle(struct experiment *experiment, double length_s)
{
    (void)experiment;
    (void)length_s;
    return (struct presence){
        .entry_s = clock_now_s(), .exit_s = NAN, .run_delay_s = NAN, .involuntary_switches = NAN};
}

static struct presence stay_computing(struct experiment *experiment, double length_s)
{
    const struct compute_sample sample = compute_for(&experiment->launch->compute, length_s);
    return (struct presence){sample.begin_s, sample.end_s, sample.run_delay_s,
                             sample.involuntary_switches};
}

static void visited(struct experiment *experiment)
{
    atomic_fetch_add(&experiment->page->visits, 1);
}

static struct presence stay_probing(struct experiment *experiment, double length_s)
{
    const double interval_s = 1e-6 * cell_number(experiment->cell, "probe_interval_us");
    const long slices = lround(fmax(1.0, length_s / interval_s));
    struct presence whole = stay_computing(experiment, length_s / (double)slices);
    for (long slice = 1; slice < slices; slice++) {
        int arrived = 0;
        CHECKED(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, experiment->launch->communicator, &arrived,
                           MPI_STATUS_IGNORE));
        visited(experiment);
        const struct presence part = stay_computing(experiment, length_s / (double)slices);
        whole.exit_s = part.exit_s;
        whole.run_delay_s += part.run_delay_s;
        whole.involuntary_switches += part.involuntary_switches;
    }
    return whole;
}

/* Looks, as for a flag that somebody may put, at a word that no operation touches. */
static struct presence stay_polling(struct experiment *experiment, double length_s)
{
    const volatile int64_t *word = experiment->memory + 2 * (size_t)experiment->elements;
    struct presence presence = {
        .entry_s = clock_now_s(), .run_delay_s = NAN, .involuntary_switches = NAN};
    do {
        CHECKED(MPI_Win_sync(experiment->window));
        visited(experiment);
        presence.exit_s = clock_now_s();
    } while (presence.exit_s < presence.entry_s + length_s && *word < 0);
    return presence;
}

static const struct target_state target_states[] = {
    {"idle", false, false, false, NULL, stay_idle},
    {"computes", true, false, false, NULL, stay_computing},
    {"computes_probing", true, true, false, NULL, stay_probing},
    {"polls_memory", true, true, true, NULL, stay_polling},
    {"helper_blocked", true, false, false, &helper_blocked, stay_computing},
    {"helper_polling", true, false, false, &helper_polling, stay_computing},
};

static const struct axis axes[] = {
    {"operation", "what the origin does to the target's window", AXIS_CHOICE,
     "put,get,accumulate,fetch_and_op", TABLE(operations), 0, 0},
    {"flavor", "where the window's memory comes from", AXIS_CHOICE, "create,allocate",
     TABLE(flavors), 0, 0},
    {"synchronisation", "what begins and completes it", AXIS_CHOICE,
     "lock_exclusive,lock_all_flush", TABLE(synchronisations), 0, 0},
    {"data", "where the payload lies in the window", AXIS_CHOICE, "contiguous", TABLE(layouts), 0,
     0},
    {"size_bytes", "size of the payload, a multiple of 8", AXIS_INTEGER, "8", {0}, 8, 1 << 20},
    {"target_state", "what the target does meanwhile", AXIS_CHOICE, "computes",
     TABLE(target_states), 0, 0},
    {"probe_interval_us",
     "computes_probing: time between two probes in microseconds",
     AXIS_NUMBER,
     "100",
     {0},
     10,
     1000000},
};

static const struct option options[] = {
    {"target", "first|last", "the rank with the window; the origin is the rank after or before it",
     OPTION_CHOICE, "first", 0, 0},
    {"samples", "N", "samples of each length", OPTION_INTEGER, "5", 1,
     SERIES_SAMPLES_MAX / LENGTHS_MAX},
    {"lengths-ms", "MS,MS,...", "how long the target computes or polls, in random order",
     OPTION_NUMBERS, "0,1,3,10", 0, 60000},
    {"helper-lengths-ms", "MS,MS,...", "the same beside a helper thread", OPTION_NUMBERS, "10,30",
     0, 60000},
    {"delta-us", "MICROSECONDS", "from the target's flag to the issue", OPTION_NUMBER, "200", 0,
     1000000},
    {"price-burst", "K", "operations in a sample of the price, at most; 0: no price",
     OPTION_INTEGER, "100", 0, 100000},
    {"price-samples", "N", "samples of the price, at most; 0: no price", OPTION_INTEGER, "10", 0,
     SERIES_SAMPLES_MAX},
    {"price-budget-s", "SECONDS", "shorter bursts, then fewer, where the price would take longer",
     OPTION_NUMBER, "0.02", 1e-6, 3600},
    {"warm-up", "N", "untimed samples first, with no compute", OPTION_INTEGER, "2", 0, 1000},
};

/* ---- Payloads and what must become of them ---- */

/* Positive and small, so that sums of all samples are exact. */
static int64_t element_of_sample(uint64_t sample, size_t element)
{
    uint64_t bits = sample * 0x9E3779B97F4A7C15u + (element + 1) * 0xD1B54A32D192ED03u;
    bits = (bits ^ (bits >> 31)) * 0xBF58476D1CE4E5B9u;
    return (int64_t)(bits >> 34) + 1;
}

static int64_t guard(size_t place)
{
    return -1 - (int64_t)place;
}

/* An epoch of the target's own for its loads and stores. Shared, for origins may hold shared locks;
 * barriers keep the accesses apart, MPI_Win_sync keeps both copies of the window alike. */
static void begin_own_epoch(struct experiment *experiment, int lock_type)
{
    if (!experiment->target_state->holds_lock_all || lock_type == MPI_LOCK_EXCLUSIVE) {
        CHECKED(MPI_Win_lock(lock_type, experiment->target, 0, experiment->window));
    }
    CHECKED(MPI_Win_sync(experiment->window));
}

static void end_own_epoch(struct experiment *experiment, int lock_type)
{
    CHECKED(MPI_Win_sync(experiment->window));
    if (!experiment->target_state->holds_lock_all || lock_type == MPI_LOCK_EXCLUSIVE) {
        CHECKED(MPI_Win_unlock(experiment->target, experiment->window));
    }
}

static int64_t *element_at_target(struct experiment *experiment, int element)
{
    return &experiment
                ->memory[experiment->layout->place((size_t)element, (size_t)experiment->elements)];
}

/* At the target: touch every page, elements and gaps. */
static void initialise_memory(struct experiment *experiment)
{
    const size_t places = 2 * (size_t)experiment->elements + SPARE_ELEMENTS;
    begin_own_epoch(experiment, MPI_LOCK_EXCLUSIVE);
    for (size_t place = 0; place < places; place++) {
        experiment->memory[place] = guard(place);
    }
    for (int i = 0; i < experiment->elements; i++) {
        *element_at_target(experiment, i) = experiment->model[i];
    }
    end_own_epoch(experiment, MPI_LOCK_EXCLUSIVE);
}

/* For tests: one element that differs from what the model says. */
static void inject_wrong_data(const struct experiment *experiment, int64_t *element)
{
    if (experiment->sample == 1 &&
        launch_injects(experiment->launch, experiment->cell, INJECT_WRONG_DATA)) {
        *element ^= 1;
    }
}

/* Begin a sample: a new payload where it is taken from, and nothing of it where it goes. */
static void prepare(struct experiment *experiment)
{
    const int elements = experiment->elements;
    const bool keeps = experiment->operation->effect == KEEPS;
    experiment->sample++;
    experiment->compared = experiment->model[0];
    for (int i = 0; i < elements; i++) {
        experiment->payload[i] = element_of_sample(experiment->sample, (size_t)i);
        experiment->result[i] = -1;
    }
    if (keeps) {
        memcpy(experiment->model, experiment->payload, (size_t)elements * sizeof(int64_t));
    }
    if (keeps && experiment->is_target) {
        begin_own_epoch(experiment, MPI_LOCK_SHARED);
        for (int i = 0; i < elements; i++) {
            *element_at_target(experiment, i) = experiment->payload[i];
        }
        inject_wrong_data(experiment, element_at_target(experiment, elements - 1));
        end_own_epoch(experiment, MPI_LOCK_SHARED);
    }
}

/* After `times` operations with one payload: what the target holds, what the last one fetched. */
static void advance_model(struct experiment *experiment, int64_t times)
{
    for (int i = 0; i < experiment->elements; i++) {
        const int64_t old = experiment->model[i];
        const int64_t payload = experiment->payload[i];
        switch (experiment->operation->effect) {
        case KEEPS:
            experiment->fetched[i] = old;
            break;
        case REPLACES: /* and a second compare_and_swap finds what the first has left */
            experiment->fetched[i] = times > 1 ? payload : old;
            experiment->model[i] = payload;
            break;
        case ADDS:
            experiment->fetched[i] = old + (times - 1) * payload;
            experiment->model[i] = old + times * payload;
            break;
        }
    }
}

/* After a barrier that follows `times` operations: hold all data against the model. */
static void check(struct experiment *experiment, int64_t times)
{
    const size_t elements = (size_t)experiment->elements;
    const uint64_t sample = experiment->sample;
    watchdog_phase = "verify";
    advance_model(experiment, times);
    if (experiment->is_origin && experiment->operation->fetches) {
        for (size_t i = 0; i < elements; i++) {
            verify_element(&experiment->at_origin, experiment->result[i], experiment->fetched[i], i,
                           sample);
        }
    }
    if (experiment->is_target) {
        begin_own_epoch(experiment, MPI_LOCK_SHARED);
        for (size_t i = 0; i < elements; i++) {
            const size_t gap = experiment->layout->gap(i, elements);
            verify_element(&experiment->at_target, *element_at_target(experiment, (int)i),
                           experiment->model[i], i, sample);
            verify_element(&experiment->in_gaps, experiment->memory[gap], guard(gap), i, sample);
        }
        end_own_epoch(experiment, MPI_LOCK_SHARED);
    }
}

/* ---- One sample ---- */

/* When each part of an access was over, at the origin. */
struct access {
    double begin_s;     /* before the first timed call */
    double begun_s;     /* the epoch is begun */
    double issued_s;    /* the operation's call has returned */
    double waited_s;    /* its request, if it has one, is complete */
    double completed_s; /* the synchronisation is over */
};

/* THE TIMED LOOP: one operation with a stamp after each of its parts, or a burst of them with none
 * inside. Every operation of this program is made here. */
static struct access access_target(struct experiment *experiment, long long burst, bool apart)
{
    const struct operation *operation = experiment->operation;
    const struct synchronisation *synchronisation = experiment->synchronisation;
    struct access access = {.begin_s = clock_now_s()};
    for (long long i = 0; i < burst; i++) {
        if (!apart) {
            synchronisation->open(experiment);
        }
        synchronisation->begin(experiment);
        if (apart) {
            access.begun_s = clock_now_s();
        }
        operation->issue(experiment);
        if (apart) {
            access.issued_s = clock_now_s();
        }
        operation->wait(experiment);
        if (apart) {
            access.waited_s = clock_now_s();
        }
        synchronisation->complete(experiment);
    }
    access.completed_s = clock_now_s();
    if (launch_injects(experiment->launch, experiment->cell, INJECT_SLOW)) {
        const double slow_s = access.begin_s + SLOW_FACTOR * (access.completed_s - access.begin_s);
        while ((access.completed_s = clock_now_s()) < slow_s) {
        }
    }
    return access;
}

/* All series have one sample an access, so that nothing has to be paired later. */
struct all_series {
    struct series *begin, *issue, *wait, *complete, *elapsed, *issue_stamp, *entry_stamp,
        *exit_stamp, *requested, *compute, *remaining, *valid, *run_delay, *switches, *visits;
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
    };
    if (is_request_based(experiment->operation)) {
        all.wait = record_series(record, "wait", "s", 1);
    }
    if (experiment->target_state->visits) {
        all.visits = record_series(record, "visits", "count", 1);
    }
    return all;
}

/* At the origin, once the target has left its state. */
static void add_sample(const struct experiment *experiment, const struct all_series *all,
                       const struct access *access, double requested_s, uint64_t visits)
{
    while (atomic_load(&experiment->page->left) != experiment->sample) {
        sched_yield();
    }
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
    if (all->wait != NULL) {
        series_add(all->wait, access->waited_s - access->issued_s);
    }
    if (all->visits != NULL) {
        series_add(all->visits, (double)visits);
    }
}

/* The target's part: into its state, out of it, and what its epoch needs around that. */
static void be_target(struct experiment *experiment, double length_s)
{
    struct page *page = experiment->page;
    watchdog_phase = "target";
    experiment->synchronisation->target_open(experiment);
    atomic_store(&page->entered, experiment->sample);
    page->presence = experiment->target_state->stay(experiment, length_s);
    atomic_store(&page->left, experiment->sample);
    experiment->synchronisation->target_close(experiment);
}

/* The origin's part; returns the times, and how often the target came to MPI meanwhile. */
static struct access be_origin(struct experiment *experiment, uint64_t *visits)
{
    struct page *page = experiment->page;
    const double delta_s = 1e-6 * options_number(&experiment->launch->options, "delta-us");
    watchdog_phase = "open";
    experiment->synchronisation->open(experiment);
    watchdog_phase = "await target";
    while (atomic_load(&page->entered) != experiment->sample) {
        sched_yield();
    }
    const double issue_s = clock_now_s() + delta_s;
    while (clock_now_s() < issue_s) {
    }
    watchdog_phase = "access";
    const uint64_t visits_before = atomic_load(&page->visits);
    const struct access access = access_target(experiment, 1, true);
    *visits = atomic_load(&page->visits) - visits_before;
    watchdog_phase = "finish";
    experiment->synchronisation->finish(experiment);
    return access;
}

/* Ranks that only belong to the window: idle, but for their part in a collective epoch. */
static void be_bystander(struct experiment *experiment)
{
    if (experiment->synchronisation->epoch == COLLECTIVE_ACTIVE) {
        experiment->synchronisation->target_open(experiment);
        experiment->synchronisation->target_close(experiment);
    }
}

/* One access to a target that stays `length_s` in its state; `all` is NULL to warm up. */
static void run_sample(struct experiment *experiment, double length_s, const struct all_series *all)
{
    const MPI_Comm communicator = experiment->launch->communicator;
    struct access access = {0};
    uint64_t visits = 0;
    watchdog_phase = "prepare";
    prepare(experiment);
    if (experiment->is_origin) {
        inject_wrong_data(experiment, &experiment->payload[experiment->elements - 1]);
    }
    CHECKED(MPI_Barrier(communicator));
    if (experiment->is_target) {
        be_target(experiment, length_s);
    } else if (experiment->is_origin) {
        access = be_origin(experiment, &visits);
    } else {
        be_bystander(experiment);
    }
    CHECKED(MPI_Barrier(communicator));
    if (experiment->is_origin && all != NULL) {
        add_sample(experiment, all, &access, length_s, visits);
    }
    if (experiment->is_origin) {
        inject_wrong_data(experiment, &experiment->payload[experiment->elements - 1]); /* undo */
    }
    check(experiment, 1);
}

/* ---- One cell ---- */

/* The lengths of all samples, in an order that is random and the same on all ranks. */
static size_t plan_lengths(const struct experiment *experiment, double *plan)
{
    const struct options *asked = &experiment->launch->options;
    const bool helped = experiment->target_state->helper != NULL;
    const size_t samples = (size_t)options_integer(asked, "samples");
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

static void take_samples(struct experiment *experiment)
{
    double plan[SERIES_SAMPLES_MAX] = {0};
    struct all_series all = {0};
    const size_t count = plan_lengths(experiment, plan);
    const long long warm_up = options_integer(&experiment->launch->options, "warm-up");
    if (experiment->is_origin) {
        all = make_series(experiment);
    }
    for (long long i = 0; i < warm_up; i++) {
        run_sample(experiment, 0.0, NULL);
    }
    for (size_t i = 0; i < count; i++) {
        run_sample(experiment, plan[i], &all);
    }
}

/* All ranks: the origin's burst, and what the others have to do in it. Returns seconds. */
static double run_burst(struct experiment *experiment, long long burst)
{
    struct access access = {0};
    if (experiment->is_origin) {
        access = access_target(experiment, burst, false);
        experiment->synchronisation->finish(experiment);
    } else {
        const bool takes_part =
            experiment->is_target || experiment->synchronisation->epoch == COLLECTIVE_ACTIVE;
        for (long long i = 0; takes_part && i < burst; i++) {
            experiment->synchronisation->target_open(experiment);
            experiment->synchronisation->target_close(experiment);
        }
    }
    return access.completed_s - access.begin_s;
}

/* How long a burst may be, and how many of them: powers of ten below what was asked for, so that
 * launches seldom differ. */
static void plan_price(const struct experiment *experiment, double one_s, long long *burst,
                       long long *samples)
{
    const struct options *asked = &experiment->launch->options;
    const double budget_s = options_number(asked, "price-budget-s");
    *burst = options_integer(asked, "price-burst");
    *samples = options_integer(asked, "price-samples");
    while (*burst > 1 && one_s * (double)(*burst * *samples) > budget_s) {
        *burst = *burst < 10 ? 1 : *burst / 10;
    }
    while (*samples > 1 && one_s * (double)(*burst * *samples) > budget_s) {
        --*samples;
    }
}

/* The origin makes bursts while all others wait: nobody computes. */
static void take_price(struct experiment *experiment)
{
    const MPI_Comm communicator = experiment->launch->communicator;
    const struct options *asked = &experiment->launch->options;
    long long plan[2] = {0, 0};
    struct series *price = NULL;
    if (options_integer(asked, "price-burst") == 0 ||
        options_integer(asked, "price-samples") == 0) {
        return;
    }
    watchdog_phase = "price";
    prepare(experiment);
    CHECKED(MPI_Barrier(communicator));
    const double cold_s = run_burst(experiment, COLD_BURST);
    if (experiment->is_origin) {
        plan_price(experiment, cold_s / COLD_BURST, &plan[0], &plan[1]);
        price = record_series(experiment->record, "price", "s", (int)plan[0]);
    }
    CHECKED(MPI_Bcast(plan, 2, MPI_LONG_LONG, experiment->origin, communicator));
    for (long long i = 0; i < plan[1]; i++) {
        const double burst_s = run_burst(experiment, plan[0]);
        if (experiment->is_origin) {
            series_add(price, burst_s / (double)plan[0]);
        }
    }
    CHECKED(MPI_Barrier(communicator));
    check(experiment, COLD_BURST + plan[0] * plan[1]);
}

static void allocate_payload(struct experiment *experiment)
{
    const size_t elements = (size_t)experiment->elements;
    experiment->payload = allocate(elements, sizeof(int64_t));
    experiment->result = allocate(elements, sizeof(int64_t));
    experiment->model = allocate(elements, sizeof(int64_t));
    experiment->fetched = allocate(elements, sizeof(int64_t));
    for (size_t i = 0; i < elements; i++) {
        experiment->model[i] = element_of_sample(0, i);
    }
}

static void open_experiment(struct experiment *experiment)
{
    const MPI_Comm communicator = experiment->launch->communicator;
    const int peer = experiment->is_target ? experiment->origin : experiment->target;
    const MPI_Aint size_bytes =
        (2 * (MPI_Aint)experiment->elements + SPARE_ELEMENTS) * (MPI_Aint)sizeof(int64_t);
    MPI_Group all;
    watchdog_phase = "window";
    allocate_payload(experiment);
    make_type(experiment);
    CHECKED(MPI_Comm_group(communicator, &all));
    CHECKED(MPI_Group_incl(all, 1, &peer, &experiment->peer));
    CHECKED(MPI_Group_free(&all));
    experiment->flavor->open(experiment, experiment->is_target ? size_bytes : 0);
    CHECKED(MPI_Win_set_errhandler(experiment->window, MPI_ERRORS_RETURN));
    record_window(experiment->record, experiment->window, experiment->flavor->name,
                  (long long)size_bytes);
    if (experiment->is_target) {
        initialise_memory(experiment);
    }
    CHECKED(MPI_Barrier(communicator));
}

static void close_experiment(struct experiment *experiment)
{
    watchdog_phase = "window";
    experiment->flavor->close(experiment);
    CHECKED(MPI_Group_free(&experiment->peer));
    free_type(experiment);
    free(experiment->payload);
    free(experiment->result);
    free(experiment->model);
    free(experiment->fetched);
}

/* Between the opened window and its end. */
static void use_window(struct experiment *experiment)
{
    struct launch *launch = experiment->launch;
    const bool holds_lock = experiment->is_target && experiment->target_state->holds_lock_all;
    watchdog_phase = "start";
    experiment->start_s = launch_common_start(launch);
    launch_inject(launch, experiment->cell);
    if (holds_lock) {
        CHECKED(MPI_Win_lock_all(0, experiment->window));
    }
    if (experiment->is_origin) {
        experiment->synchronisation->enter(experiment);
    }
    take_samples(experiment);
    take_price(experiment);
    watchdog_phase = "end";
    if (experiment->is_origin) {
        experiment->synchronisation->leave(experiment);
    }
    if (holds_lock) {
        CHECKED(MPI_Win_unlock_all(experiment->window));
    }
    CHECKED(MPI_Barrier(launch->communicator));
}

static void stop_helper(struct experiment *experiment, struct helper *helper)
{
    watchdog_phase = "helper";
    if (helper_stop(helper)) {
        record_status(experiment->record, CELL_HELPER_RETURNED,
                      "the target's helper returned before it was released");
    }
}

/* Let all ranks have what one found: rank 0 writes the line, whoever checked. */
static void record_check(struct experiment *experiment, struct verification *check, int owner)
{
    const char *name = check->name;
    CHECKED(MPI_Bcast(check, sizeof *check, MPI_BYTE, owner, experiment->launch->communicator));
    check->name = name; /* an address of this process */
    record_verification(experiment->record, *check);
}

static void record_checks(struct experiment *experiment)
{
    watchdog_phase = "verify";
    record_check(experiment, &experiment->at_target, experiment->target);
    record_check(experiment, &experiment->in_gaps, experiment->target);
    if (experiment->operation->fetches) {
        record_check(experiment, &experiment->at_origin, experiment->origin);
    }
}

static void run_supported(struct experiment *experiment)
{
    struct launch *launch = experiment->launch;
    const struct helper_kind *helper_kind = experiment->target_state->helper;
    struct helper helper;
    const double steal_s = host_steal_s();
    open_experiment(experiment);
    if (helper_kind != NULL) {
        watchdog_phase = "helper";
        experiment->record->helper_threads = experiment->is_target;
        helper_start_at(&helper, helper_kind, launch->communicator, experiment->target);
    }
    use_window(experiment);
    if (helper_kind != NULL) {
        stop_helper(experiment, &helper);
    }
    record_checks(experiment);
    close_experiment(experiment);
    if (host_local_rank(&launch->host, launch->rank) == 0) {
        series_add(record_series(experiment->record, "steal", "s", 1), host_steal_s() - steal_s);
    }
}

/* Why the standard, or this program, has no such cell; NULL if it has. The same on all ranks. */
static const char *contradiction(const struct experiment *experiment)
{
    const struct operation *operation = experiment->operation;
    const struct synchronisation *synchronisation = experiment->synchronisation;
    const bool contiguous = is_contiguous(experiment->layout);
    if ((int)cell_number(experiment->cell, "size_bytes") % (int)sizeof(int64_t) != 0) {
        return "the payload is made of elements of 8 bytes: its size must be a multiple of 8";
    }
    if (operation->one_element && (experiment->elements != 1 || !contiguous)) {
        return "the operation takes one element: 8 bytes, contiguous";
    }
    if (is_request_based(operation) && synchronisation->epoch != PASSIVE) {
        return "request-based operations belong to passive target epochs";
    }
    if (is_request_based(operation) && synchronisation->completes_locally) {
        return "MPI_Wait has completed the operation locally: MPI_Win_flush_local adds nothing";
    }
    if (experiment->target_state->holds_lock_all && synchronisation->exclusive) {
        return "the target polls inside lock_all: an exclusive lock would wait for its end";
    }
    if (experiment->target_state->holds_lock_all && synchronisation->epoch != PASSIVE) {
        return "the target polls inside lock_all: its window can have no active epoch meanwhile";
    }
    return NULL;
}

/* Collective: true if one MPI shared-memory window can span all ranks. */
static bool can_share_memory(const struct launch *launch)
{
    MPI_Comm sharing;
    int ranks = 0;
    CHECKED(MPI_Comm_split_type(launch->communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                                &sharing));
    CHECKED(MPI_Comm_size(sharing, &ranks));
    CHECKED(MPI_Comm_free(&sharing));
    int fewest = 0;
    CHECKED(MPI_Allreduce(&ranks, &fewest, 1, MPI_INT, MPI_MIN, launch->communicator));
    return fewest == launch->ranks;
}

/* Collective: leave the reason in the record and return false if the cell cannot run here. */
static bool is_supported(struct experiment *experiment)
{
    struct launch *launch = experiment->launch;
    struct record *record = experiment->record;
    const char *reason = contradiction(experiment);
    if (reason != NULL) {
        record_status(record, CELL_UNSUPPORTED, "%s", reason);
    } else if (experiment->target_state->helper != NULL &&
               launch->thread_provided < MPI_THREAD_MULTIPLE) {
        record_status(record, CELL_UNSUPPORTED,
                      "a helper thread needs MPI_THREAD_MULTIPLE: asked for %s, provided %s",
                      thread_level_name(launch->thread_required),
                      thread_level_name(launch->thread_provided));
    } else if (!launch->clock_is_global) {
        record_status(record, CELL_UNSUPPORTED,
                      "origin and target need one clock: expected all ranks on one host");
    } else if (experiment->flavor->open == allocate_shared_window && !can_share_memory(launch)) {
        record_status(record, CELL_UNSUPPORTED,
                      "a shared window needs all ranks in one MPI_COMM_TYPE_SHARED");
    }
    return record->status == CELL_OK;
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const bool last = strcmp(options_text(&launch->options, "target"), "last") == 0;
    struct experiment experiment = {.launch = launch,
                                    .cell = cell,
                                    .record = record,
                                    .operation = cell_choice(cell, "operation"),
                                    .flavor = cell_choice(cell, "flavor"),
                                    .synchronisation = cell_choice(cell, "synchronisation"),
                                    .layout = cell_choice(cell, "data"),
                                    .target_state = cell_choice(cell, "target_state"),
                                    .target = last ? launch->ranks - 1 : 0,
                                    .origin = last ? launch->ranks - 2 : 1,
                                    .elements =
                                        (int)cell_number(cell, "size_bytes") / (int)sizeof(int64_t),
                                    .request = MPI_REQUEST_NULL,
                                    .at_target.name = "at_target",
                                    .in_gaps.name = "in_gaps",
                                    .at_origin.name = "at_origin"};
    experiment.is_target = launch->rank == experiment.target;
    experiment.is_origin = launch->rank == experiment.origin;
    if (!is_supported(&experiment)) {
        return;
    }
    experiment.page = shared_page_open(launch->communicator, sizeof *experiment.page);
    if (experiment.page == NULL) {
        record_status(record, CELL_UNSUPPORTED,
                      "the target's flag needs memory that all ranks share: found none");
        return;
    }
    run_supported(&experiment);
    shared_page_close(experiment.page, sizeof *experiment.page);
}

int main(int argument_count, char **arguments)
{
    static const struct kernel kernel = {
        .name = "progress",
        .summary = "does a one-sided operation complete while its target computes?",
        .axes = axes,
        .axis_count = sizeof axes / sizeof axes[0],
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .run_cell = run_cell,
        .print_head = table_print_head,
        .print_row = table_print_row};
    return launch_run(&kernel, argument_count, arguments);
}
