/* Progress: does a one-sided operation complete while its target computes, or only when the target
 * comes back to MPI?
 *
 * After "Is MPI-2 suitable for quantum chemistry? Performance of passive target one-sided
 * communications", technical report, STFC, 2008, sections 3 and 4 (what the standard asks of a
 * target that makes no MPI call); IBM SG24-5611 (1999), section 3.5.1.4 (polling and interrupt
 * mode); MPI 4.1, the section on progress (strong and weak).
 *
 * One target and an origin, or several. The target enters its state (it computes, for example) and
 * raises a flag in memory that all ranks share outside MPI. A time delta later each origin issues
 * one operation on its own part of the target's window. Bystanders compute as long as the target
 * and access nothing.
 *
 * Timed, in seconds, at the origin: the call that begins the epoch, the operation's call, and the
 * calls that complete it, each separately. Stamps of the issue and of the target's entry and exit
 * come from one clock, so each sample shows whether the target computed, and how much of the
 * compute was left. While nobody computes: an operation's uncontended latency, from bursts of k.
 * Verified, with values that depend on the sample's number: the whole window at the target, with
 * its gaps, and all fetched data; a helper thread must still be in its call at the end. With a
 * ghost process the target verifies its own memory, which the ghost exposes to the origins. */
#include <mpi.h>
#include <stdint.h>

#include "harness/launch.h"
#include "harness/machine.h"
#include "harness/plan.h"
#include "harness/watchdog.h"
#include "mpi/checked.h"
#include "mpi/helper.h"
#include "mpi/latency.h"
#include "mpi/shared_page.h"
#include "mpi/world.h"
#include "rma/ghost.h"
#include "stfc/progress/experiment.h"

/* Bytes of all slots of a region. More would not stay in a core's cache, and the payload of one
 * operation would slow the next. A larger payload has one slot. */
#define SLOTS_BYTES (128 << 10)
#define ORIGINS_MAX 64

static const struct axis axes[] = {
    OPERATION_AXIS("what the origin does to the target's window",
                   "put,get,accumulate,fetch_and_op"),
    FLAVOR_AXIS("create,allocate"),
    SYNCHRONISATION_AXIS("lock_exclusive,lock_all_flush"),
    CHOICE_AXIS("data", "where the payload lies in the window", "contiguous", layouts),
    INTEGER_AXIS("size_bytes", "size of the payload, a multiple of 8", "8", 8, 1 << 20),
    CHOICE_AXIS("target_state", "what the target does meanwhile", "computes", target_states),
    NUMBER_AXIS("probe_interval_us", "computes_probing: time between two probes in microseconds",
                "100", 10, 1000000),
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
    {"helper-samples", "N", "the same beside a helper thread or a ghost process", OPTION_INTEGER,
     "5", 1, SERIES_SAMPLES_MAX / LENGTHS_MAX},
    {"lengths-ms", "MS,MS,...", "how long the target computes or polls, in random order",
     OPTION_NUMBERS, "0,1,3,10", 0, 60000},
    {"helper-lengths-ms", "MS,MS,...", "the same beside a helper thread or a ghost process",
     OPTION_NUMBERS, "10,30", 0, 60000},
    {"delta-us", "MICROSECONDS", "from the target's flag to the issue", OPTION_NUMBER, "200", 0,
     1000000},
    LATENCY_OPTIONS,
    {"retakes", "N",
     "computes_probing, polls_memory: how often a sample is taken again, at most, in which an "
     "origin lost its core; the state is four times as long then",
     OPTION_INTEGER, "3", 0, 100},
    {"warm-up", "N", "untimed samples first, with no compute", OPTION_INTEGER, "2", 0, 1000},
};

/* ---- One cell ---- */

/* pscw: the target's peers are all origins; an origin's peer is the target. */
static MPI_Group make_peers(const struct experiment *experiment)
{
    int ranks[ORIGINS_MAX] = {experiment->target};
    MPI_Group all, peers;
    for (int origin = 0; experiment->is_target && origin < experiment->origins; origin++) {
        ranks[origin] = rank_at(experiment->launch, 1 + origin);
    }
    CHECKED(MPI_Comm_group(world_communicator, &all));
    CHECKED(MPI_Group_incl(all, experiment->is_target ? experiment->origins : 1, ranks, &peers));
    CHECKED(MPI_Group_free(&all));
    return peers;
}

static bool open_experiment(struct experiment *experiment)
{
    struct slots *slots = &experiment->slots;
    if (!slots_open(slots)) {
        return false;
    }
    experiment->epoch = (struct epoch){.synchronisation = experiment->synchronisation,
                                       .window = slots->window->handle,
                                       .target = experiment->holder,
                                       .peers = make_peers(experiment)};
    if (experiment->is_origin) {
        experiment->transfer = slots_transfer(slots, slots->begin, experiment->epoch);
    }
    return true;
}

static void close_experiment(struct experiment *experiment)
{
    slots_close(&experiment->slots);
    CHECKED(MPI_Group_free(&experiment->epoch.peers));
}

/* Take samples and latency in the open window. */
static void use_window(struct experiment *experiment)
{
    struct launch *launch = experiment->launch;
    const bool holds_lock = experiment->is_target && experiment->target_state->holds_lock_all;
    watchdog_phase = "start";
    experiment->start_s = launch_common_start(launch);
    if (holds_lock) {
        window_hold(experiment->slots.window);
    }
    if (experiment->is_origin) {
        experiment->synchronisation->enter(&experiment->epoch);
    }
    if (!experiment->again) {
        take_samples(experiment);
    }
    take_latency(experiment);
    watchdog_phase = "end";
    if (experiment->is_origin) {
        experiment->synchronisation->leave(&experiment->epoch);
    }
    if (holds_lock) {
        window_release(experiment->slots.window);
    }
    CHECKED(MPI_Barrier(world_communicator));
}

static void stop_helper(struct experiment *experiment, struct helper *helper)
{
    watchdog_phase = "helper";
    if (helper_stop(helper)) {
        record_status(experiment->record, CELL_HELPER_RETURNED,
                      "the target's helper returned before it was released");
    }
}

static void run_supported(struct experiment *experiment)
{
    const struct helper_kind *helper_kind = experiment->target_state->helper;
    struct helper helper;
    const double steal_s = machine_steal_s();
    if (!open_experiment(experiment)) {
        return;
    }
    if (helper_kind != NULL) {
        watchdog_phase = "helper";
        experiment->record->helper_threads = experiment->is_target;
        helper_start_at(&helper, helper_kind, world_communicator, experiment->target);
    }
    use_window(experiment);
    if (helper_kind != NULL) {
        stop_helper(experiment, &helper);
    }
    close_experiment(experiment);
    if (!experiment->again) {
        record_steal(experiment->launch, experiment->record, steal_s);
    }
}

/* The slots of a region: the operations of a burst, or fewer, so that they stay in a cache. */
static long long burst_of(const struct launch *launch, const struct cell *cell)
{
    const long long room = SLOTS_BYTES / (2 * (long long)cell_number(cell, "size_bytes"));
    return burst_within(options_integer(&launch->options, "latency-burst"), room);
}

static struct experiment experiment_of(struct launch *launch, const struct cell *cell,
                                       struct record *record)
{
    const int origins = (int)options_integer(&launch->options, "origins");
    const int bystanders = (int)options_integer(&launch->options, "bystanders");
    /* rank_at is its own inverse. */
    const int place = rank_at(launch, launch->rank);
    const bool is_origin = place > 0 && place <= origins;
    const struct target_state *state = cell_choice(cell, "target_state");
    const int holder = state->has_ghost ? 1 + origins + bystanders : 0;
    struct experiment experiment = {
        .launch = launch,
        .cell = cell,
        .record = record,
        .operation = cell_choice(cell, "operation"),
        .synchronisation = cell_choice(cell, "synchronisation"),
        .target_state = state,
        .target = rank_at(launch, 0),
        .holder = rank_at(launch, holder),
        .origins = origins,
        .bystanders = bystanders,
        .place = place,
        .is_target = place == 0,
        .is_origin = is_origin,
        .answers = place == holder,
        .is_bystander = place > origins && place <= origins + bystanders,
        .slots = slots_of_elements(launch, cell, record,
                                   cell_number(cell, "size_bytes") / sizeof(int64_t),
                                   burst_of(launch, cell))};
    struct slots *slots = &experiment.slots;
    slots->makes = experiment.operation;
    slots->layout = cell_choice(cell, "data");
    slots->origins = origins;
    slots->begin = is_origin ? place - 1 : 0;
    slots->end = is_origin ? place : 0;
    slots->is_target = experiment.is_target;
    slots->target = experiment.target;
    slots->holder = experiment.holder;
    return experiment;
}

/* Collective; false if the ranks share no memory. */
static bool run_with_page(struct experiment *experiment)
{
    const MPI_Comm communicator = world_communicator;
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

/* Take the latency again, in a new window. With a helper the latency measures the scheduler, and is
 * taken only once. */
static bool latency_again(struct launch *launch, const struct cell *cell, struct record *record)
{
    struct experiment experiment = experiment_of(launch, cell, record);
    experiment.again = true;
    return latency_was_taken(cell) && experiment.target_state->helper == NULL &&
           run_with_page(&experiment);
}

KERNEL("progress", "does a one-sided operation complete while its target computes?",
       .run_cell = run_cell, .run_again = latency_again, .passes = "latency-passes")
