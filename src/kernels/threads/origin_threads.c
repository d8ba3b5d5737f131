/* Origin threads: how do several threads that access a window compare with as many processes?
 *
 * After MPI 4.1, the sections on MPI and threads and on one-sided communication (with
 * MPI_THREAD_MULTIPLE any thread may access a window and flush it, and a flush completes what the
 * process's other threads have issued, too); the arrangements after R. Zambre, A.
 * Chandramowlishwaran and P. Balaji, "Scalable Communication Endpoints for MPI+Threads
 * Applications", ICPADS 2018.
 *
 * Rank 0 is the target: it waits in a barrier. The origins are threads of rank 1, on one window or
 * each on its own window, or processes of one thread each. All origins begin together, outside MPI;
 * each makes k operations on elements of its own, with a flush after each operation.
 *
 * Timed, in seconds: from the common start to the end of each origin's k operations, divided by k.
 * Verified, with values that depend on the sample's number: all elements at the target after each
 * sample, the gaps behind each origin's part, and all fetched data. */
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

#include "harness/launch.h"
#include "harness/machine.h"
#include "harness/memory.h"
#include "harness/watchdog.h"
#include "mpi/checked.h"
#include "mpi/shared_page.h"
#include "mpi/team.h"
#include "mpi/trial.h"
#include "mpi/world.h"
#include "slots/bursts.h"

#define FIRST_ORIGIN_RANK 1
#define ORIGINS_MAX 16

struct experiment;

/* One origin: a thread of this process. The first origin of each process is its main thread. */
struct origin {
    struct experiment *experiment;
    struct transfer transfer;
    double elapsed_s; /* of the last burst, from the common start */
    pthread_t thread;
    struct series *series;
};

struct experiment {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct operation *operation;
    const struct arrangement *arrangement;
    int origins;                     /* of all processes */
    int own_begin, own_end;          /* the origins of this process */
    struct origin *own[ORIGINS_MAX]; /* by number; NULL: an origin of another process */
    struct slots slots;              /* a region for each origin */
    int burst;             /* operations of each origin in the running sample; 0: no more samples */
    struct meeting *start; /* of all origins; shared by processes */
    struct meeting finish; /* of this process's origins */
};

struct arrangement {
    const char *name;
    bool threads; /* origins are threads of one rank; else each is a rank */
    bool window_each;
};

static const struct arrangement arrangements[] = {
    {"one_window", true, false},
    {"window_each", true, true},
    {"processes", false, false},
};

static const struct axis axes[] = {
    OPERATION_AXIS("what the origins do to the target's window", "put,get,accumulate,fetch_and_op"),
    FLAVOR_AXIS("create,allocate"),
    CHOICE_AXIS("arrangement", "threads of rank 1 on one window or on a window each, or processes",
                "one_window,window_each,processes", arrangements),
    INTEGER_AXIS("origins", "threads or processes that access the target", "1,2,4", 1, ORIGINS_MAX),
};

static const struct option options[] = {
    TRIAL_OPTIONS("1000", "10", "0.1"),
};

/* ---- One sample ---- */

/* An origin's part of a sample; false when there are no more samples. THE TIMED LOOP is in
 * rma/operation.c: each operation is flushed before the next. */
static bool run_burst(struct origin *origin)
{
    struct experiment *experiment = origin->experiment;
    const MPI_Comm processes =
        experiment->arrangement->threads ? MPI_COMM_NULL : world_communicator;
    const double start_s = meet(experiment->start, experiment->origins, processes);
    if (experiment->burst == 0) {
        return false;
    }
    const struct access access =
        experiment->operation->access(&origin->transfer, experiment->burst, false);
    const double end_s = access.completed_s;
    origin->elapsed_s = end_s - start_s;
    meet(&experiment->finish, experiment->own_end - experiment->own_begin, MPI_COMM_NULL);
    return true;
}

static void *thread_main(void *origin)
{
    while (run_burst(origin)) {
    }
    return NULL;
}

static void prepare_sample(void *state, long long burst)
{
    struct experiment *experiment = state;
    experiment->burst = (int)burst;
    slots_prepare(&experiment->slots, burst);
}

/* The first origin of this process is its main thread; the others wait for it. */
static double make_sample(void *state, long long burst)
{
    const struct experiment *experiment = state;
    double slowest_s = 0;
    (void)burst; /* the origins know it */
    if (experiment->own_begin < experiment->own_end) {
        run_burst(experiment->own[experiment->own_begin]);
    }
    for (int number = experiment->own_begin; number < experiment->own_end; number++) {
        slowest_s = fmax(slowest_s, experiment->own[number]->elapsed_s);
    }
    return slowest_s;
}

static void check_sample(void *state, long long burst)
{
    slots_check(&((struct experiment *)state)->slots, burst);
}

static void keep_times(void *state, long long burst)
{
    struct experiment *experiment = state;
    for (int number = experiment->own_begin; number < experiment->own_end; number++) {
        struct origin *origin = experiment->own[number];
        series_keep(experiment->record, &origin->series, "operation_time", "s", burst,
                    origin->elapsed_s / (double)burst);
    }
}

/* ---- One cell ---- */

/* Each origin has pages of its own, so no two origins share a cache line. */
static void start_origins(struct experiment *experiment, struct epoch epoch)
{
    for (int number = experiment->own_begin; number < experiment->own_end; number++) {
        struct origin *origin = experiment->own[number] = allocate_pages(sizeof *origin);
        *origin = (struct origin){.experiment = experiment,
                                  .transfer = slots_transfer(&experiment->slots, number, epoch)};
        if (number > experiment->own_begin) {
            origin->thread = team_start(thread_main, origin);
        }
    }
}

static void end_origins(struct experiment *experiment)
{
    if (experiment->own_begin < experiment->own_end) {
        experiment->burst = 0;
        run_burst(experiment->own[experiment->own_begin]);
    }
    for (int number = experiment->own_begin; number < experiment->own_end; number++) {
        if (number > experiment->own_begin) {
            pthread_join(experiment->own[number]->thread, NULL);
        }
        free(experiment->own[number]);
    }
}

/* Take the samples in the open windows. */
static void use_windows(struct experiment *experiment)
{
    struct launch *launch = experiment->launch;
    const bool accesses = experiment->own_begin < experiment->own_end;
    const struct epoch epoch = {.synchronisation = synchronisation_named("lock_all_flush"),
                                .target = TARGET};
    watchdog_phase = "start";
    launch_common_start(launch);
    for (int i = 0; accesses && i < experiment->slots.windows; i++) {
        window_hold(&experiment->slots.window[i]);
    }
    start_origins(experiment, epoch);
    trial_run(&(struct trial){.launch = launch,
                              .cell = experiment->cell,
                              .record = experiment->record,
                              .state = experiment,
                              .longest = experiment->slots.count,
                              .prepare = prepare_sample,
                              .go = make_sample,
                              .check = check_sample,
                              .keep = keep_times});
    watchdog_phase = "end";
    end_origins(experiment);
    for (int i = 0; accesses && i < experiment->slots.windows; i++) {
        window_release(&experiment->slots.window[i]);
    }
    CHECKED(MPI_Barrier(world_communicator));
}

static void run_supported(struct experiment *experiment)
{
    const double steal_s = machine_steal_s();
    const int own_origins = experiment->own_end - experiment->own_begin;
    experiment->record->helper_threads = own_origins > 1 ? own_origins - 1 : 0;
    if (!slots_open(&experiment->slots)) {
        return;
    }
    use_windows(experiment);
    slots_close(&experiment->slots);
    record_steal(experiment->launch, experiment->record, steal_s);
}

/* Collective: false, with the reason in the record, if the cell cannot run here. */
static bool is_supported(const struct experiment *experiment)
{
    const struct launch *launch = experiment->launch;
    const bool threads = experiment->arrangement->threads;
    const int needed = threads ? 2 : 1 + experiment->origins;
    struct record *record = experiment->record;
    if (launch->ranks != needed) {
        record_status(record, CELL_UNSUPPORTED, "the arrangement needs %d ranks: found %d", needed,
                      launch->ranks);
    } else if (threads && experiment->origins > 1) {
        threads_may_call(launch, record, "several origin threads need");
    } else if (!threads && !launch->clock_is_global) {
        record_status(record, CELL_UNSUPPORTED,
                      "origin processes need one clock: expected all ranks on one machine");
    }
    return record->status == CELL_OK;
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct arrangement *arrangement = cell_choice(cell, "arrangement");
    const int origins = (int)cell_number(cell, "origins");
    const int first = launch->rank - FIRST_ORIGIN_RANK;
    const bool is_target = launch->rank == TARGET;
    struct meeting own_start = {0};
    struct experiment experiment = {.launch = launch,
                                    .cell = cell,
                                    .record = record,
                                    .operation = cell_choice(cell, "operation"),
                                    .arrangement = arrangement,
                                    .origins = origins,
                                    .own_begin = is_target ? 0 : first,
                                    .own_end = is_target              ? 0
                                               : arrangement->threads ? origins
                                                                      : first + 1,
                                    .start = &own_start};
    struct slots *slots = &experiment.slots;
    *slots = slots_of_elements(launch, cell, record, 1, options_integer(&launch->options, "burst"));
    slots->makes = experiment.operation;
    slots->origins = origins;
    slots->begin = experiment.own_begin;
    slots->end = experiment.own_end;
    slots->windows = arrangement->window_each ? origins : 1;
    if (!is_supported(&experiment)) {
        return;
    }
    if (!arrangement->threads) {
        experiment.start = shared_page_open(world_communicator, sizeof *experiment.start);
    }
    if (experiment.start == NULL) {
        record_status(record, CELL_UNSUPPORTED,
                      "the common start needs memory that all ranks share: found none");
        return;
    }
    run_supported(&experiment);
    if (!arrangement->threads) {
        shared_page_close(experiment.start, sizeof *experiment.start);
    }
}

KERNEL("origin_threads",
       "time of one-sided operations of several origin threads, or processes, at once",
       .run_cell = run_cell)
