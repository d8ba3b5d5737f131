/* Origin threads: what do several threads that access a window cost against as many processes?
 *
 * After MPI 4.1, the sections on MPI and threads and on one-sided communication (with
 * MPI_THREAD_MULTIPLE any thread may access a window and flush it, and a flush completes what the
 * process's other threads have issued, too); the arrangements after R. Zambre, A.
 * Chandramowlishwaran and P. Balaji, "Scalable Communication Endpoints for MPI+Threads
 * Applications", ICPADS 2018.
 *
 * Rank 0 is the target: it waits in a barrier. The origins are threads of rank 1, on one window or
 * on a window each, or processes of one thread each. All begin together, outside MPI; each makes k
 * operations on elements of its own, and flushes after each of them.
 *
 * Timed, in seconds: from the common start to the end of each origin's k operations, over k.
 * Verified: every payload, with values that depend on the sample's number: all elements at the
 * target after each sample, the gaps behind each origin's part, and all that is fetched. */
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/await.h"
#include "harness/launch.h"
#include "harness/memory.h"
#include "harness/shared_page.h"
#include "harness/watchdog.h"

#define TARGET 0
#define FIRST_ORIGIN_RANK 1
#define ORIGINS_MAX 16
#define GAP_ELEMENTS 8
#define COLD_ROUNDS 4 /* the fastest decides how long a burst may be: others lost their core */
#define COLD_BURST 10

/* Where the origins begin together, and when that was; outside MPI. */
struct meeting {
    atomic_int arrived;
    _Atomic uint64_t round;
    double stamp_s;
};

struct experiment;

/* One origin: a thread of this process. The first of each process is its main thread. */
struct origin {
    struct experiment *experiment;
    int number; /* among all origins, from 0 */
    MPI_Win window;
    MPI_Aint first;   /* of its elements in the window */
    int64_t *payload; /* an element an operation of a burst */
    int64_t *result;
    double elapsed_s; /* of the last burst, from the common start */
    pthread_t thread;
    struct series *series;
    /* The MPI call in flight: the watchdog's own word at the main thread, `own_call` at others. */
    const char *volatile *in_flight;
    const char *volatile own_call;
    const char *failed_call; /* NULL: none */
    int code;                /* of the failed call */
};

struct experiment {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct operation *operation;
    const struct flavor *flavor;
    const struct arrangement *arrangement;
    int origins;                     /* in all */
    int own_begin, own_end;          /* the origins of this process */
    struct origin *own[ORIGINS_MAX]; /* by their number */
    int windows;
    MPI_Win window[ORIGINS_MAX];
    int64_t *memory[ORIGINS_MAX]; /* at the target: each window's elements */
    int capacity;                 /* elements of an origin's part: the longest burst */
    int burst;             /* operations of each origin in the sample that runs; 0: no more */
    uint64_t sample;       /* its number, from 1 */
    int64_t *model;        /* what the parts' elements must hold, `capacity` an origin */
    struct meeting *start; /* of all origins; shared by processes */
    struct meeting finish; /* of this process's origins */
    struct verification at_target, in_gaps, at_origin;
};

/* ---- Operations: `operation` is the number of it in the burst, and of the element it takes. ----
 */

enum effect { KEEPS, REPLACES, ADDS }; /* what becomes of the target's element */

struct operation {
    const char *name;
    enum effect effect;
    bool fetches;
    int (*issue)(struct origin *origin, int operation);
};

/* An MPI call of any origin, in a function that returns its code. CHECKED is for main threads. */
#define CALL(origin_, mpi_call)                                                                    \
    do {                                                                                           \
        *(origin_)->in_flight = #mpi_call;                                                         \
        const int call_code = (mpi_call);                                                          \
        *(origin_)->in_flight = NULL;                                                              \
        if (call_code != MPI_SUCCESS) {                                                            \
            (origin_)->failed_call = #mpi_call;                                                    \
            return call_code;                                                                      \
        }                                                                                          \
    } while (0)

#define REMOTE TARGET, origin->first + operation

static int issue_put(struct origin *origin, int operation)
{
    CALL(origin, MPI_Put(&origin->payload[operation], 1, MPI_INT64_T, REMOTE, 1, MPI_INT64_T,
                         origin->window));
    return MPI_SUCCESS;
}

static int issue_get(struct origin *origin, int operation)
{
    CALL(origin, MPI_Get(&origin->result[operation], 1, MPI_INT64_T, REMOTE, 1, MPI_INT64_T,
                         origin->window));
    return MPI_SUCCESS;
}

static int issue_accumulate(struct origin *origin, int operation)
{
    CALL(origin, MPI_Accumulate(&origin->payload[operation], 1, MPI_INT64_T, REMOTE, 1, MPI_INT64_T,
                                MPI_SUM, origin->window));
    return MPI_SUCCESS;
}

static int issue_fetch_and_op(struct origin *origin, int operation)
{
    CALL(origin, MPI_Fetch_and_op(&origin->payload[operation], &origin->result[operation],
                                  MPI_INT64_T, REMOTE, MPI_SUM, origin->window));
    return MPI_SUCCESS;
}

static const struct operation operations[] = {
    {"put", REPLACES, false, issue_put},
    {"get", KEEPS, true, issue_get},
    {"accumulate", ADDS, false, issue_accumulate},
    {"fetch_and_op", ADDS, true, issue_fetch_and_op},
};

/* ---- Flavors: where a window's memory comes from. Displacements are in elements. ---- */

struct flavor {
    const char *name;
    void (*open)(struct experiment *experiment, int index, MPI_Aint size_bytes);
    bool frees_memory;
};

static void create_window(struct experiment *experiment, int index, MPI_Aint size_bytes)
{
    experiment->memory[index] = allocate_pages((size_t)size_bytes);
    CHECKED(MPI_Win_create(experiment->memory[index], size_bytes, sizeof(int64_t), MPI_INFO_NULL,
                           experiment->launch->communicator, &experiment->window[index]));
}

static void allocate_window(struct experiment *experiment, int index, MPI_Aint size_bytes)
{
    CHECKED(MPI_Win_allocate(size_bytes, sizeof(int64_t), MPI_INFO_NULL,
                             experiment->launch->communicator, &experiment->memory[index],
                             &experiment->window[index]));
}

static const struct flavor flavors[] = {
    {"create", create_window, true},
    {"allocate", allocate_window, false},
};

struct arrangement {
    const char *name;
    bool threads; /* origins are threads of one rank; else a rank each */
    bool window_each;
};

static const struct arrangement arrangements[] = {
    {"one_window", true, false},
    {"window_each", true, true},
    {"processes", false, false},
};

static const struct axis axes[] = {
    {"operation", "what the origins do to the target's window", AXIS_CHOICE,
     "put,get,accumulate,fetch_and_op", TABLE(operations), 0, 0},
    {"flavor", "where the window's memory comes from", AXIS_CHOICE, "create,allocate",
     TABLE(flavors), 0, 0},
    {"arrangement", "threads of rank 1 on one window or on a window each, or processes",
     AXIS_CHOICE, "one_window,window_each,processes", TABLE(arrangements), 0, 0},
    {"origins",
     "threads or processes that access the target",
     AXIS_INTEGER,
     "1,2,4",
     {0},
     1,
     ORIGINS_MAX},
};

static const struct option options[] = {
    {"burst", "K", "operations of each origin in a sample, at most", OPTION_INTEGER, "1000", 1,
     10000},
    {"samples", "N", "samples of each origin, at most", OPTION_INTEGER, "10", 1,
     SERIES_SAMPLES_MAX},
    {"budget-s", "SECONDS", "shorter bursts, then fewer, where a cell would take longer",
     OPTION_NUMBER, "0.1", 1e-6, 3600},
};

/* ---- Payloads and what must become of them ---- */

/* Positive and small, so that sums of all samples are exact. */
static int64_t value_of(const struct experiment *experiment, int origin, int operation)
{
    const uint64_t element = (uint64_t)(origin * experiment->capacity + operation);
    uint64_t bits = experiment->sample * 0x9E3779B97F4A7C15u + (element + 1) * 0xD1B54A32D192ED03u;
    bits = (bits ^ (bits >> 31)) * 0xBF58476D1CE4E5B9u;
    return (int64_t)(bits >> 34) + 1;
}

static int64_t guard(int place)
{
    return -1 - (int64_t)place;
}

static int part_elements(const struct experiment *experiment)
{
    return experiment->capacity + GAP_ELEMENTS;
}

/* The window an origin accesses, and the first of its elements there. */
static int window_of(const struct experiment *experiment, int origin)
{
    return experiment->arrangement->window_each ? origin : 0;
}

static int first_of(const struct experiment *experiment, int origin)
{
    return experiment->arrangement->window_each ? 0 : origin * part_elements(experiment);
}

/* At the target: an origin's part. */
static int64_t *part_of(const struct experiment *experiment, int origin)
{
    return experiment->memory[window_of(experiment, origin)] + first_of(experiment, origin);
}

/* An epoch of the target's own for its loads and stores. Shared, for the origins hold shared locks:
 * barriers keep the accesses apart, MPI_Win_sync keeps both copies of a window alike. */
static void begin_own_epochs(struct experiment *experiment, int lock_type)
{
    for (int i = 0; i < experiment->windows; i++) {
        CHECKED(MPI_Win_lock(lock_type, TARGET, 0, experiment->window[i]));
        CHECKED(MPI_Win_sync(experiment->window[i]));
    }
}

static void end_own_epochs(struct experiment *experiment)
{
    for (int i = 0; i < experiment->windows; i++) {
        CHECKED(MPI_Win_sync(experiment->window[i]));
        CHECKED(MPI_Win_unlock(TARGET, experiment->window[i]));
    }
}

static void initialise_memory(struct experiment *experiment)
{
    begin_own_epochs(experiment, MPI_LOCK_EXCLUSIVE);
    for (int origin = 0; origin < experiment->origins; origin++) {
        int64_t *part = part_of(experiment, origin);
        for (int i = 0; i < part_elements(experiment); i++) {
            part[i] = i < experiment->capacity
                          ? experiment->model[origin * experiment->capacity + i]
                          : guard(i);
        }
    }
    end_own_epochs(experiment);
}

/* For tests: one element of the last origin, in the first sample. */
static int64_t injected(const struct experiment *experiment, int origin, int operation)
{
    return experiment->sample == 1 && origin == experiment->origins - 1 &&
           operation == experiment->burst - 1 &&
           launch_injects(experiment->launch, experiment->cell, INJECT_WRONG_DATA);
}

static void store_what_is_got(struct experiment *experiment)
{
    begin_own_epochs(experiment, MPI_LOCK_SHARED);
    for (int origin = 0; origin < experiment->origins; origin++) {
        int64_t *part = part_of(experiment, origin);
        for (int i = 0; i < experiment->burst; i++) {
            part[i] = value_of(experiment, origin, i) ^ injected(experiment, origin, i);
        }
    }
    end_own_epochs(experiment);
}

/* Begin a sample: new payloads where they are taken from, and nothing of them where they go. */
static void prepare(struct experiment *experiment, int burst)
{
    const bool keeps = experiment->operation->effect == KEEPS;
    watchdog_phase = "prepare";
    experiment->sample++;
    experiment->burst = burst;
    for (int number = experiment->own_begin; number < experiment->own_end; number++) {
        struct origin *origin = experiment->own[number];
        for (int i = 0; i < burst; i++) {
            origin->payload[i] = value_of(experiment, number, i) ^ injected(experiment, number, i);
            origin->result[i] = -1;
        }
    }
    if (keeps && experiment->launch->rank == TARGET) {
        store_what_is_got(experiment);
    }
}

/* One operation of the sample that is over: move the model on; return what it must have fetched. */
static int64_t advance_model(struct experiment *experiment, int origin, int operation)
{
    int64_t *element = &experiment->model[origin * experiment->capacity + operation];
    const int64_t value = value_of(experiment, origin, operation);
    const int64_t old = *element;
    const enum effect effect = experiment->operation->effect;
    *element = effect == ADDS ? old + value : value;
    return effect == KEEPS ? value : old;
}

/* After a barrier that follows a sample: hold all data against the model. */
static void check(struct experiment *experiment)
{
    const int capacity = experiment->capacity;
    const uint64_t sample = experiment->sample;
    watchdog_phase = "verify";
    for (int number = 0; number < experiment->origins; number++) {
        const struct origin *own = experiment->own[number]; /* NULL: another process's */
        for (int i = 0; i < experiment->burst; i++) {
            const int64_t fetched = advance_model(experiment, number, i);
            if (own != NULL && experiment->operation->fetches) {
                verify_element(&experiment->at_origin, own->result[i], fetched,
                               (size_t)(number * capacity + i), sample);
            }
        }
    }
    if (experiment->launch->rank != TARGET) {
        return;
    }
    begin_own_epochs(experiment, MPI_LOCK_SHARED);
    for (int number = 0; number < experiment->origins; number++) {
        const int64_t *part = part_of(experiment, number);
        for (int i = 0; i < part_elements(experiment); i++) {
            const size_t position = (size_t)(number * capacity + i);
            if (i < capacity) {
                verify_element(&experiment->at_target, part[i], experiment->model[position],
                               position, sample);
            } else {
                verify_element(&experiment->in_gaps, part[i], guard(i), position, sample);
            }
        }
    }
    end_own_epochs(experiment);
}

/* ---- One sample ---- */

/* Wait for all participants; return the stamp of the last one's arrival. Those that are processes
 * wait as ranks do that look at a word, threads of one process just look at it. */
static double meet(struct meeting *meeting, int participants, MPI_Comm processes)
{
    const uint64_t round = atomic_load(&meeting->round);
    if (atomic_fetch_add(&meeting->arrived, 1) + 1 == participants) {
        atomic_store(&meeting->arrived, 0);
        meeting->stamp_s = clock_now_s();
        atomic_store(&meeting->round, round + 1);
    } else if (processes != MPI_COMM_NULL) {
        await_word(&meeting->round, round + 1, processes);
    }
    while (atomic_load(&meeting->round) == round) {
        sched_yield();
    }
    return meeting->stamp_s;
}

/* THE TIMED LOOP: every operation of this program is made here. Returns an MPI code. */
static int make_operations(struct origin *origin, int burst)
{
    int (*const issue)(struct origin *, int) = origin->experiment->operation->issue;
    for (int operation = 0; operation < burst; operation++) {
        const int code = issue(origin, operation);
        if (code != MPI_SUCCESS) {
            return code;
        }
        CALL(origin, MPI_Win_flush(TARGET, origin->window));
    }
    return MPI_SUCCESS;
}

/* An origin's part of a sample; false when there are no more. */
static bool run_burst(struct origin *origin)
{
    struct experiment *experiment = origin->experiment;
    const MPI_Comm processes =
        experiment->arrangement->threads ? MPI_COMM_NULL : experiment->launch->communicator;
    const double start_s = meet(experiment->start, experiment->origins, processes);
    if (experiment->burst == 0) {
        return false;
    }
    origin->code = make_operations(origin, experiment->burst);
    const double end_s = launch_slowed(experiment->launch, experiment->cell, start_s);
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

/* The main thread's part of a sample, and what its threads came back with. */
static void run_own_burst(struct experiment *experiment)
{
    run_burst(experiment->own[experiment->own_begin]);
    for (int number = experiment->own_begin; number < experiment->own_end; number++) {
        const struct origin *origin = experiment->own[number];
        if (origin->code != MPI_SUCCESS) {
            mpi_failed(origin->failed_call, origin->code);
        }
    }
}

/* All ranks: one sample. Returns the time of this process's slowest origin, 0 if it has none. */
static double run_sample(struct experiment *experiment, int burst)
{
    const MPI_Comm communicator = experiment->launch->communicator;
    double slowest_s = 0;
    prepare(experiment, burst);
    CHECKED(MPI_Barrier(communicator));
    if (experiment->own_begin < experiment->own_end) {
        watchdog_phase = "operations";
        run_own_burst(experiment);
    }
    watchdog_phase = "wait";
    CHECKED(MPI_Barrier(communicator));
    check(experiment);
    for (int number = experiment->own_begin; number < experiment->own_end; number++) {
        slowest_s = fmax(slowest_s, experiment->own[number]->elapsed_s);
    }
    return slowest_s;
}

/* ---- One cell ---- */

/* How long a burst may be, and how many of them: powers of ten below what was asked for, so that
 * launches seldom differ. */
static void plan(const struct experiment *experiment, double one_s, int *burst, long long *samples)
{
    const struct options *asked = &experiment->launch->options;
    const double budget_s = options_number(asked, "budget-s");
    *burst = experiment->capacity;
    *samples = options_integer(asked, "samples");
    while (*burst > 1 && one_s * (double)*burst * (double)*samples > budget_s) {
        *burst = *burst < 10 ? 1 : *burst / 10;
    }
    while (*samples > 1 && one_s * (double)*burst * (double)*samples > budget_s) {
        --*samples;
    }
}

static void take_samples(struct experiment *experiment)
{
    const int cold_burst = experiment->capacity < COLD_BURST ? experiment->capacity : COLD_BURST;
    double cold_s = INFINITY;
    int burst = 0;
    long long samples = 0;
    for (int i = 0; i < COLD_ROUNDS; i++) {
        double own_s = run_sample(experiment, cold_burst), slowest_s = 0;
        CHECKED(MPI_Allreduce(&own_s, &slowest_s, 1, MPI_DOUBLE, MPI_MAX,
                              experiment->launch->communicator));
        cold_s = fmin(cold_s, slowest_s);
    }
    plan(experiment, cold_s / cold_burst, &burst, &samples);
    for (int number = experiment->own_begin; number < experiment->own_end; number++) {
        experiment->own[number]->series =
            record_series(experiment->record, "operation_time", "s", burst);
    }
    for (long long i = 0; i < samples; i++) {
        run_sample(experiment, burst);
        for (int number = experiment->own_begin; number < experiment->own_end; number++) {
            const struct origin *origin = experiment->own[number];
            series_add(origin->series, origin->elapsed_s / burst);
        }
    }
}

static void start_threads(struct experiment *experiment)
{
    for (int number = experiment->own_begin + 1; number < experiment->own_end; number++) {
        struct origin *origin = experiment->own[number];
        const int fault = pthread_create(&origin->thread, NULL, thread_main, origin);
        if (fault != 0) {
            fprintf(stderr, "origin_threads: no thread: %s\n", strerror(fault));
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
    }
}

static void end_threads(struct experiment *experiment)
{
    if (experiment->own_begin == experiment->own_end) {
        return;
    }
    experiment->burst = 0;
    run_burst(experiment->own[experiment->own_begin]);
    for (int number = experiment->own_begin + 1; number < experiment->own_end; number++) {
        pthread_join(experiment->own[number]->thread, NULL);
    }
}

/* Between the opened windows and their end. */
static void use_windows(struct experiment *experiment)
{
    struct launch *launch = experiment->launch;
    const bool accesses = experiment->own_begin < experiment->own_end;
    watchdog_phase = "start";
    launch_common_start(launch);
    launch_inject(launch, experiment->cell);
    for (int i = 0; accesses && i < experiment->windows; i++) {
        CHECKED(MPI_Win_lock_all(0, experiment->window[i]));
    }
    start_threads(experiment);
    take_samples(experiment);
    watchdog_phase = "end";
    end_threads(experiment);
    for (int i = 0; accesses && i < experiment->windows; i++) {
        CHECKED(MPI_Win_unlock_all(experiment->window[i]));
    }
    CHECKED(MPI_Barrier(launch->communicator));
}

static void open_windows(struct experiment *experiment)
{
    const bool is_target = experiment->launch->rank == TARGET;
    const int parts = experiment->arrangement->window_each ? 1 : experiment->origins;
    const size_t size_bytes = (size_t)(parts * part_elements(experiment)) * sizeof(int64_t);
    watchdog_phase = "window";
    for (int i = 0; i < experiment->windows; i++) {
        experiment->flavor->open(experiment, i, is_target ? (MPI_Aint)size_bytes : 0);
        CHECKED(MPI_Win_set_errhandler(experiment->window[i], MPI_ERRORS_RETURN));
    }
    record_window(experiment->record, experiment->window[0], experiment->flavor->name,
                  (long long)size_bytes);
    experiment->model =
        allocate((size_t)(experiment->origins * experiment->capacity), sizeof(int64_t));
    for (int i = 0; i < experiment->origins * experiment->capacity; i++) {
        experiment->model[i] = value_of(experiment, 0, i);
    }
    if (is_target) {
        initialise_memory(experiment);
    }
    CHECKED(MPI_Barrier(experiment->launch->communicator));
}

static void close_windows(struct experiment *experiment)
{
    watchdog_phase = "window";
    for (int i = 0; i < experiment->windows; i++) {
        CHECKED(MPI_Win_free(&experiment->window[i]));
        if (experiment->flavor->frees_memory) {
            free(experiment->memory[i]);
        }
    }
    free(experiment->model);
}

/* Each on pages of its own: no origin shares a cache line with another. */
static void make_origins(struct experiment *experiment)
{
    const size_t bytes = (size_t)experiment->capacity * sizeof(int64_t);
    for (int number = experiment->own_begin; number < experiment->own_end; number++) {
        const bool is_main = number == experiment->own_begin;
        struct origin *origin = allocate_pages(sizeof *origin);
        *origin = (struct origin){.experiment = experiment,
                                  .number = number,
                                  .window = experiment->window[window_of(experiment, number)],
                                  .first = first_of(experiment, number),
                                  .payload = allocate_pages(bytes),
                                  .result = allocate_pages(bytes),
                                  .code = MPI_SUCCESS};
        origin->in_flight = is_main ? &watchdog_call : &origin->own_call;
        experiment->own[number] = origin;
    }
}

static void free_origins(struct experiment *experiment)
{
    for (int number = experiment->own_begin; number < experiment->own_end; number++) {
        free(experiment->own[number]->payload);
        free(experiment->own[number]->result);
        free(experiment->own[number]);
    }
}

static void record_checks(struct experiment *experiment)
{
    record_verification(experiment->record, experiment->at_target);
    record_verification(experiment->record, experiment->in_gaps);
    if (experiment->operation->fetches) {
        record_verification(experiment->record, experiment->at_origin);
    }
}

static void run_supported(struct experiment *experiment)
{
    struct launch *launch = experiment->launch;
    const double steal_s = host_steal_s();
    const int own_origins = experiment->own_end - experiment->own_begin;
    experiment->record->helper_threads = own_origins > 1 ? own_origins - 1 : 0;
    open_windows(experiment);
    make_origins(experiment);
    use_windows(experiment);
    record_checks(experiment);
    free_origins(experiment);
    close_windows(experiment);
    if (host_local_rank(&launch->host, launch->rank) == 0) {
        series_add(record_series(experiment->record, "steal", "s", 1), host_steal_s() - steal_s);
    }
}

/* Leave the reason in the record and return false if the cell cannot run here; on all ranks alike.
 */
static bool is_supported(const struct experiment *experiment)
{
    const struct launch *launch = experiment->launch;
    const bool threads = experiment->arrangement->threads;
    const int needed = threads ? 2 : 1 + experiment->origins;
    struct record *record = experiment->record;
    if (launch->ranks != needed) {
        record_status(record, CELL_UNSUPPORTED, "the arrangement needs %d ranks: found %d", needed,
                      launch->ranks);
    } else if (threads && experiment->origins > 1 &&
               launch->thread_provided < MPI_THREAD_MULTIPLE) {
        record_status(record, CELL_UNSUPPORTED,
                      "several origin threads need MPI_THREAD_MULTIPLE: asked for %s, provided %s",
                      thread_level_name(launch->thread_required),
                      thread_level_name(launch->thread_provided));
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
                                    .flavor = cell_choice(cell, "flavor"),
                                    .arrangement = arrangement,
                                    .origins = origins,
                                    .own_begin = is_target ? 0 : first,
                                    .own_end = is_target              ? 0
                                               : arrangement->threads ? origins
                                                                      : first + 1,
                                    .windows = arrangement->window_each ? origins : 1,
                                    .capacity = (int)options_integer(&launch->options, "burst"),
                                    .start = &own_start,
                                    .at_target.name = "at_target",
                                    .in_gaps.name = "in_gaps",
                                    .at_origin.name = "at_origin"};
    if (!is_supported(&experiment)) {
        return;
    }
    if (!arrangement->threads) {
        experiment.start = shared_page_open(launch->communicator, sizeof *experiment.start);
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

/* ---- The table for a person ---- */

static int compare_numbers(const void *first, const void *second)
{
    const double difference = *(const double *)first - *(const double *)second;
    return (difference > 0) - (difference < 0);
}

static double median_of(double *values, int count)
{
    qsort(values, (size_t)count, sizeof values[0], compare_numbers);
    return count == 0 ? NAN : 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

static void print_head(const struct launch *launch)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0;
    CHECKED(MPI_Get_library_version(library, &length));
    library[strcspn(library, "\n,")] = '\0';
    printf("%s; %d ranks, %d cores, thread level %s\n", library, launch->ranks,
           host_cores(&launch->host), thread_level_name(launch->thread_provided));
    printf("time: median over samples of the origins' mean time an operation; rate: of all origins "
           "together, from their common start to the last one's end\n\n");
    printf("%-13s %-9s %-12s %7s %10s %14s\n", "operation", "flavor", "arrangement", "origins",
           "time/us", "operations/s");
    fflush(stdout);
}

/* Per sample: the mean and the largest time of all origins, wherever they are. Collective. */
static int join_samples(const struct launch *launch, const struct record *record, int origins,
                        double *mean_s, double *largest_s)
{
    int own = 0, count = 0;
    double sum_s[SERIES_SAMPLES_MAX] = {0}, most_s[SERIES_SAMPLES_MAX] = {0};
    for (size_t i = 0; i < record->series_count; i++) {
        const struct series *series = &record->series[i];
        const bool wanted = strcmp(series->metric, "operation_time") == 0;
        own = wanted ? (int)series->count : own;
        for (size_t sample = 0; wanted && sample < series->count; sample++) {
            sum_s[sample] += series->samples[sample] / origins;
            most_s[sample] = fmax(most_s[sample], series->samples[sample]);
        }
    }
    CHECKED(MPI_Allreduce(&own, &count, 1, MPI_INT, MPI_MAX, launch->communicator));
    CHECKED(MPI_Allreduce(sum_s, mean_s, count, MPI_DOUBLE, MPI_SUM, launch->communicator));
    CHECKED(MPI_Allreduce(most_s, largest_s, count, MPI_DOUBLE, MPI_MAX, launch->communicator));
    return count;
}

static void print_row(const struct launch *launch, const struct cell *cell,
                      const struct record *record)
{
    double mean_s[SERIES_SAMPLES_MAX], largest_s[SERIES_SAMPLES_MAX];
    const int origins = (int)cell_number(cell, "origins");
    const int count = join_samples(launch, record, origins, mean_s, largest_s);
    if (launch->rank != 0) {
        return;
    }
    printf("%-13s %-9s %-12s %7d ", *(const char *const *)cell_choice(cell, "operation"),
           *(const char *const *)cell_choice(cell, "flavor"),
           *(const char *const *)cell_choice(cell, "arrangement"), origins);
    if (record->status != CELL_OK) {
        printf("%s: %s\n", status_name(record->status), record->detail);
    } else {
        printf("%10.3f %14.0f\n", 1e6 * median_of(mean_s, count),
               origins / median_of(largest_s, count));
    }
    fflush(stdout);
}

int main(int argument_count, char **arguments)
{
    static const struct kernel kernel = {
        .name = "origin_threads",
        .summary = "time of one-sided operations of several origin threads, or processes, at once",
        .axes = axes,
        .axis_count = sizeof axes / sizeof axes[0],
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .run_cell = run_cell,
        .print_head = print_head,
        .print_row = print_row};
    return launch_run(&kernel, argument_count, arguments);
}
