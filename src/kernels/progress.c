/* Progress: does a one-sided operation complete while its target computes, or only when the target
 * comes back to MPI?
 *
 * After "Is MPI-2 suitable for quantum chemistry? Performance of passive target one-sided
 * communications", technical report, STFC, 2008, sections 3 and 4 (what the standard asks of a
 * target that makes no MPI call); IBM SG24-5611 (1999), section 3.5.1.4 (polling and interrupt
 * mode); MPI 4.1, the section on progress (strong and weak).
 *
 * One target and an origin, or several. The target enters its state (computes, say) and raises a
 * flag in memory that all share outside MPI; delta later each origin issues one operation on its
 * own part of the target's window. Bystanders compute as long as the target and access nothing.
 *
 * Timed, in seconds, at the origin: the call that begins the epoch, the operation's call, the calls
 * that complete it, each apart; with stamps of the issue and of the target's entry and exit on the
 * one clock, so that each sample says whether it met a computing target and what was left of the
 * compute. Where nobody computes: the price of an operation, from bursts of k.
 * Verified: every payload, with values that depend on the sample's number: the whole window at the
 * target, its gaps too, and all that is fetched; a helper thread was still there at the end. */
#include <math.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "harness/await.h"
#include "harness/helper.h"
#include "harness/launch.h"
#include "harness/price.h"
#include "harness/shared_page.h"
#include "harness/watchdog.h"
#include "progress/experiment.h"
#include "progress/payload.h"
#include "progress/table.h"

#define LENGTHS_MAX OPTION_NUMBERS_MAX
#define ORIGINS_MAX 64

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

static struct presence presence_of(const struct compute_sample *sample)
{
    return (struct presence){.entry_s = sample->begin_s,
                             .exit_s = sample->end_s,
                             .run_delay_s = sample->run_delay_s,
                             .involuntary_switches = sample->involuntary_switches};
}

static struct presence stay_computing(struct experiment *experiment, double length_s)
{
    const struct compute_sample sample = compute_for(&experiment->launch->compute, length_s);
    return presence_of(&sample);
}

static void visited(struct experiment *experiment)
{
    atomic_fetch_add(&experiment->page->visits, 1);
}

/* Bare work between the probes: what surrounds it once would be a part of every slice. */
static struct presence stay_probing(struct experiment *experiment, double length_s)
{
    struct compute *compute = &experiment->launch->compute;
    const double interval_s = 1e-6 * cell_number(experiment->cell, "probe_interval_us");
    const long slices = lround(fmax(1.0, length_s / interval_s));
    struct compute_sample sample = compute_begin();
    for (long slice = 0; slice < slices; slice++) {
        if (slice > 0) {
            int arrived = 0;
            CHECKED(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, experiment->launch->communicator,
                               &arrived, MPI_STATUS_IGNORE));
            visited(experiment);
        }
        compute_slice(compute, length_s / (double)slices);
    }
    compute_end(&sample);
    return presence_of(&sample);
}

/* Looks, as for a flag that somebody may put, at a word that no operation touches. */
static struct presence stay_polling(struct experiment *experiment, double length_s)
{
    const volatile int64_t *word =
        experiment->memory + region_elements(experiment) - SPARE_ELEMENTS;
    const double delay_s = run_delay_s();
    struct presence presence = {.entry_s = clock_now_s(), .involuntary_switches = NAN};
    do {
        CHECKED(MPI_Win_sync(experiment->window));
        visited(experiment);
        presence.exit_s = clock_now_s();
    } while (presence.exit_s < presence.entry_s + length_s && *word < 0);
    presence.run_delay_s = run_delay_s() - delay_s;
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
    {"target", "first|last", "the rank with the window; origins are the ranks after or before it",
     OPTION_CHOICE, "first", 0, 0},
    {"origins", "N", "ranks that access the window in the same state of the target", OPTION_INTEGER,
     "1", 1, ORIGINS_MAX},
    {"bystanders", "N", "ranks that compute as long as the target, and access nothing",
     OPTION_INTEGER, "0", 0, ORIGINS_MAX},
    {"samples", "N", "samples of each length", OPTION_INTEGER, "5", 1,
     SERIES_SAMPLES_MAX / LENGTHS_MAX},
    {"helper-samples", "N", "the same beside a helper thread", OPTION_INTEGER, "5", 1,
     SERIES_SAMPLES_MAX / LENGTHS_MAX},
    {"lengths-ms", "MS,MS,...", "how long the target computes or polls, in random order",
     OPTION_NUMBERS, "0,1,3,10", 0, 60000},
    {"helper-lengths-ms", "MS,MS,...", "the same beside a helper thread", OPTION_NUMBERS, "10,30",
     0, 60000},
    {"delta-us", "MICROSECONDS", "from the target's flag to the issue", OPTION_NUMBER, "200", 0,
     1000000},
    PRICE_OPTIONS,
    {"retakes", "N",
     "computes_probing, polls_memory: how often a sample is taken again, at most, in which an "
     "origin lost its core; the state is four times as long then",
     OPTION_INTEGER, "3", 0, 100},
    {"warm-up", "N", "untimed samples first, with no compute", OPTION_INTEGER, "2", 0, 1000},
};

/* ---- One sample ---- */

/* All series have one sample an access, so that nothing has to be paired later. */
struct all_series {
    struct series *begin, *issue, *wait, *complete, *elapsed, *issue_stamp, *entry_stamp,
        *exit_stamp, *requested, *compute, *remaining, *valid, *run_delay, *switches,
        *access_run_delay, *visits, *visits_remaining, *released;
    struct series *bystander_entry, *bystander_exit; /* at a bystander, these alone */
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
    if (experiment->synchronisation->epoch != PASSIVE) {
        all.released = record_series(record, "released", "flag", 1);
    }
    return all;
}

/* At the origin, once the target has left its state. */
static void add_sample(const struct experiment *experiment, const struct all_series *all,
                       const struct access *access, double requested_s)
{
    await_word(&experiment->page->left, experiment->sample, experiment->launch->communicator);
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
    series_add(all->access_run_delay, access->run_delay_s);
    if (all->wait != NULL) {
        series_add(all->wait, access->waited_s - access->issued_s);
    }
    if (all->visits != NULL) {
        const uint64_t last = atomic_load(&experiment->page->visits);
        series_add(all->visits, (double)(access->visits_after - access->visits_before));
        series_add(all->visits_remaining, (double)(last - access->visits_before));
    }
    if (all->released != NULL) {
        /* false where this origin did not enter MPI while it waited: the stamp is NAN */
        series_add(all->released, experiment->page->opened_s >= access->entered_mpi_s);
    }
}

/* The target's part: into its state, out of it, and what its epoch needs around that. */
static void be_target(struct experiment *experiment, double length_s)
{
    struct page *page = experiment->page;
    watchdog_phase = "target";
    experiment->synchronisation->target_open(experiment);
    page->opened_s = clock_now_s();
    atomic_store(&page->entered, experiment->sample);
    page->presence = experiment->target_state->stay(experiment, length_s);
    atomic_store(&page->left, experiment->sample);
    experiment->synchronisation->target_close(experiment);
}

/* Outside MPI, but where the target's part of the epoch does not open without this rank. Returns
 * the stamp of this rank's first call then, else NAN. */
static double await_target(const struct experiment *experiment)
{
    return await_word(&experiment->page->entered, experiment->sample,
                      experiment->launch->communicator);
}

/* An origin's part. */
static struct access be_origin(struct experiment *experiment)
{
    struct page *page = experiment->page;
    const double delta_s = 1e-6 * options_number(&experiment->launch->options, "delta-us");
    watchdog_phase = "open";
    experiment->synchronisation->open(experiment);
    watchdog_phase = "await target";
    const double entered_mpi_s = await_target(experiment);
    const double issue_s = clock_now_s() + delta_s;
    const double run_delay_before_s = run_delay_s();
    while (clock_now_s() < issue_s) {
    }
    watchdog_phase = "access";
    const uint64_t visits_before = atomic_load(&page->visits);
    struct access access = experiment->operation->access(experiment, 1, true);
    access.entered_mpi_s = entered_mpi_s;
    access.visits_before = visits_before;
    access.visits_after = atomic_load(&page->visits);
    access.run_delay_s = run_delay_s() - run_delay_before_s;
    watchdog_phase = "finish";
    experiment->synchronisation->finish(experiment);
    return access;
}

/* Ranks that only belong to the window: idle, or a bystander that computes once the target does;
 * and their part in a collective epoch. */
static void be_another(struct experiment *experiment, double length_s, const struct all_series *all)
{
    const bool collective = experiment->synchronisation->epoch == COLLECTIVE_ACTIVE;
    watchdog_phase = "stand by";
    if (collective) {
        experiment->synchronisation->target_open(experiment);
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
        experiment->synchronisation->target_close(experiment);
    }
}

/* All ranks, after a sample: did an origin wait for a core within its access? Then it could not see
 * when the target had come to MPI. */
static bool an_origin_lost_its_core(const struct experiment *experiment,
                                    const struct access *access)
{
    const struct presence *presence = &experiment->page->presence;
    const double limit_s = LOST_CORE_SHARE * (presence->exit_s - presence->entry_s);
    int lost = access->run_delay_s > limit_s;
    CHECKED(
        MPI_Allreduce(MPI_IN_PLACE, &lost, 1, MPI_INT, MPI_MAX, experiment->launch->communicator));
    return lost;
}

/* An access of each origin to a target that stays `length_s` in its state; `all` is NULL to warm
 * up. */
static struct access run_sample(struct experiment *experiment, double length_s,
                                const struct all_series *all)
{
    const MPI_Comm communicator = experiment->launch->communicator;
    struct access access = {0};
    watchdog_phase = "prepare";
    payload_prepare(experiment, 1);
    payload_inject_wrong(experiment);
    CHECKED(MPI_Barrier(communicator));
    if (experiment->is_target) {
        be_target(experiment, length_s);
    } else if (experiment->is_origin) {
        access = be_origin(experiment);
    } else {
        be_another(experiment, length_s, all);
    }
    CHECKED(MPI_Barrier(communicator));
    if (experiment->is_origin && all != NULL) {
        add_sample(experiment, all, &access, length_s);
    }
    payload_inject_wrong(experiment);
    payload_advance(experiment, 1);
    payload_check(experiment);
    return access;
}

/* ---- One cell ---- */

/* The lengths of all samples, in an order that is random and the same on all ranks. */
static size_t plan_lengths(const struct experiment *experiment, double *plan)
{
    const struct options *asked = &experiment->launch->options;
    const bool helped = experiment->target_state->helper != NULL;
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

/* One sample; of a target that visits MPI as many more as are asked for, while an origin loses its
 * core in each. All of them are kept. Returns how many.
 *
 * Whoever takes an origin's core takes it for a few ticks of the scheduler; in a state that lasts
 * many the visits still tell whether the access was early. */
static size_t take_sample(struct experiment *experiment, double length_s,
                          const struct all_series *all, size_t room)
{
    const size_t asked = (size_t)options_integer(&experiment->launch->options, "retakes");
    const bool may_lose = experiment->target_state->visits && length_s > 0;
    const size_t most = 1 + (!may_lose ? 0 : asked < room ? asked : room);
    size_t taken = 0;
    struct access access;
    do {
        access = run_sample(experiment, length_s * (taken > 0 ? RETAKE_LENGTHENS : 1.0), all);
        taken++;
    } while (taken < most && an_origin_lost_its_core(experiment, &access));
    return taken;
}

static void take_samples(struct experiment *experiment)
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

/* ---- The price: the origins make bursts, all at once, while nobody computes ---- */

static void prepare_burst(void *state, long long burst)
{
    payload_renew(state, burst);
}

static double make_burst(void *state, long long burst)
{
    struct experiment *experiment = state;
    const struct access access = experiment->operation->access(experiment, burst, false);
    experiment->synchronisation->finish(experiment);
    return access.completed_s - access.begin_s;
}

static void check_burst(void *state, long long burst)
{
    struct experiment *experiment = state;
    payload_advance(experiment, burst);
    if (is_read_back(experiment->operation)) {
        read_back(experiment);
        payload_check_copy(experiment);
    }
}

/* The target's epochs in an origin's burst, and in the reading back after it. */
static void accompany_burst(void *state, long long burst)
{
    struct experiment *experiment = state;
    const enum epoch epoch = experiment->synchronisation->epoch;
    const bool takes_part = experiment->is_target || epoch == COLLECTIVE_ACTIVE;
    const long long epochs = burst + is_read_back(experiment->operation);
    for (long long i = 0; takes_part && epoch != PASSIVE && i < epochs; i++) {
        experiment->synchronisation->target_open(experiment);
        experiment->synchronisation->target_close(experiment);
    }
}

static void follow_bursts(void *state, long long bursts, long long burst)
{
    payload_follow(state, bursts, burst);
}

static void take_price(struct experiment *experiment)
{
    const struct priced priced = {.launch = experiment->launch,
                                  .cell = experiment->cell,
                                  .record = experiment->record,
                                  .state = experiment,
                                  .again = experiment->again,
                                  .makes = experiment->is_origin,
                                  .first = experiment->place == 1,
                                  .answers = experiment->is_target,
                                  .alone = experiment->origins == 1 &&
                                           experiment->synchronisation->epoch == PASSIVE,
                                  /* beside a helper the ranks have no core of their own */
                                  .own_cores = experiment->target_state->helper == NULL,
                                  .longest = experiment->slots,
                                  .prepare = prepare_burst,
                                  .burst = make_burst,
                                  .check = check_burst,
                                  .accompany = accompany_burst,
                                  .follow = follow_bursts};
    watchdog_phase = "prepare";
    payload_prepare(experiment, experiment->slots);
    price_take(&priced);
    payload_check(experiment);
}

/* ---- One cell ---- */

static void make_peers(struct experiment *experiment)
{
    int ranks[ORIGINS_MAX] = {experiment->target};
    MPI_Group all;
    for (int origin = 0; experiment->is_target && origin < experiment->origins; origin++) {
        ranks[origin] = rank_at(experiment->launch, 1 + origin);
    }
    CHECKED(MPI_Comm_group(experiment->launch->communicator, &all));
    CHECKED(MPI_Group_incl(all, experiment->is_target ? experiment->origins : 1, ranks,
                           &experiment->peers));
    CHECKED(MPI_Group_free(&all));
}

static void open_experiment(struct experiment *experiment)
{
    const MPI_Comm communicator = experiment->launch->communicator;
    const MPI_Aint region_bytes = (MPI_Aint)(region_elements(experiment) * sizeof(int64_t));
    const MPI_Aint size_bytes = experiment->origins * region_bytes;
    watchdog_phase = "window";
    payload_allocate(experiment);
    make_type(experiment);
    make_peers(experiment);
    experiment->flavor->open(experiment, experiment->is_target ? size_bytes : 0);
    experiment->displacement += experiment->known_begin * region_bytes;
    experiment->slot_bytes = 2 * experiment->elements * (MPI_Aint)sizeof(int64_t);
    CHECKED(MPI_Win_set_errhandler(experiment->window, MPI_ERRORS_RETURN));
    record_window(experiment->record, experiment->window, experiment->flavor->name,
                  (long long)size_bytes);
    if (experiment->is_target) {
        payload_initialise(experiment);
    }
    CHECKED(MPI_Barrier(communicator));
}

static void close_experiment(struct experiment *experiment)
{
    watchdog_phase = "window";
    experiment->flavor->close(experiment);
    CHECKED(MPI_Group_free(&experiment->peers));
    free_type(experiment);
    payload_free(experiment);
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
    if (!experiment->again) {
        take_samples(experiment);
    }
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

static void record_checks(struct experiment *experiment)
{
    record_verification(experiment->record, experiment->at_target);
    record_verification(experiment->record, experiment->in_gaps);
    if (experiment->operation->fetches) {
        record_verification(experiment->record, experiment->at_origin);
    }
    if (is_read_back(experiment->operation)) {
        record_verification(experiment->record, experiment->read_back);
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
    if (!experiment->again && host_local_rank(&launch->host, launch->rank) == 0) {
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
    if (operation->request_based && synchronisation->epoch != PASSIVE) {
        return "request-based operations belong to passive target epochs";
    }
    if (operation->request_based && synchronisation->completes_locally) {
        return "MPI_Wait has completed the operation locally: MPI_Win_flush_local adds nothing";
    }
    if (experiment->target_state->holds_lock_all && is_exclusive(synchronisation)) {
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
    const int needed = 1 + experiment->origins + experiment->bystanders;
    if (launch->ranks < needed) {
        record_status(record, CELL_UNSUPPORTED,
                      "a target, %d origins and %d bystanders need %d ranks: found %d",
                      experiment->origins, experiment->bystanders, needed, launch->ranks);
    } else if (reason != NULL) {
        record_status(record, CELL_UNSUPPORTED, "%s", reason);
    } else if (experiment->target_state->helper != NULL &&
               launch->thread_provided < MPI_THREAD_MULTIPLE) {
        record_status(record, CELL_UNSUPPORTED,
                      "a helper thread needs MPI_THREAD_MULTIPLE: asked for %s, provided %s",
                      thread_level_name(launch->thread_required),
                      thread_level_name(launch->thread_provided));
    } else if (!launch->clock_is_global) {
        record_status(record, CELL_UNSUPPORTED,
                      "origin and target need one clock: expected all ranks on one machine");
    } else if (is_shared(experiment->flavor) && !can_share_memory(launch)) {
        record_status(record, CELL_UNSUPPORTED,
                      "a shared window needs all ranks in one MPI_COMM_TYPE_SHARED");
    }
    return record->status == CELL_OK;
}

static bool target_is_last(const struct launch *launch)
{
    return strcmp(options_text(&launch->options, "target"), "last") == 0;
}

int rank_at(const struct launch *launch, int place)
{
    return target_is_last(launch) ? launch->ranks - 1 - place : place;
}

/* As many as a burst may have operations, as long as they stay in a cache. */
static int slots_of(const struct launch *launch, const struct cell *cell)
{
    const long long asked = options_integer(&launch->options, "price-burst");
    const long long room = SLOTS_BYTES / (2 * (long long)cell_number(cell, "size_bytes"));
    const long long slots = asked < room ? asked : room;
    return slots < 1 ? 1 : (int)slots;
}

static struct experiment experiment_of(struct launch *launch, const struct cell *cell,
                                       struct record *record)
{
    const int origins = (int)options_integer(&launch->options, "origins");
    const int bystanders = (int)options_integer(&launch->options, "bystanders");
    /* There and back is the same way. */
    const int place = rank_at(launch, launch->rank);
    return (struct experiment){.launch = launch,
                               .cell = cell,
                               .record = record,
                               .operation = cell_choice(cell, "operation"),
                               .flavor = cell_choice(cell, "flavor"),
                               .synchronisation = cell_choice(cell, "synchronisation"),
                               .layout = cell_choice(cell, "data"),
                               .target_state = cell_choice(cell, "target_state"),
                               .target = rank_at(launch, 0),
                               .origins = origins,
                               .bystanders = bystanders,
                               .place = place,
                               .is_target = place == 0,
                               .is_origin = place > 0 && place <= origins,
                               .is_bystander = place > origins && place <= origins + bystanders,
                               .elements =
                                   (int)cell_number(cell, "size_bytes") / (int)sizeof(int64_t),
                               .slots = slots_of(launch, cell),
                               .request = MPI_REQUEST_NULL,
                               .at_target.name = "at_target",
                               .in_gaps.name = "in_gaps",
                               .at_origin.name = "at_origin",
                               .read_back.name = "read_back"};
}

/* Collective; false where the ranks share no memory. */
static bool run_with_page(struct experiment *experiment)
{
    const MPI_Comm communicator = experiment->launch->communicator;
    experiment->page = shared_page_open(communicator, sizeof *experiment->page);
    if (experiment->page == NULL) {
        return false;
    }
    run_supported(experiment);
    shared_page_close(experiment->page, sizeof *experiment->page);
    return true;
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    struct experiment experiment = experiment_of(launch, cell, record);
    if (is_supported(&experiment) && !run_with_page(&experiment)) {
        record_status(record, CELL_UNSUPPORTED,
                      "the target's flag needs memory that all ranks share: found none");
    }
}

/* The price once more, in a new window. Beside a helper it measures the scheduler, once is enough.
 */
static bool price_again(struct launch *launch, const struct cell *cell, struct record *record)
{
    struct experiment experiment = experiment_of(launch, cell, record);
    experiment.again = true;
    return price_was_taken(cell) && experiment.target_state->helper == NULL &&
           run_with_page(&experiment);
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
        .run_again = price_again,
        .passes = "price-passes",
        .print_head = table_print_head,
        .print_row = table_print_row};
    const int code = launch_run(&kernel, argument_count, arguments);
    price_end();
    return code;
}
