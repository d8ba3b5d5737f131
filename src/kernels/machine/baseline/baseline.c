/* Hardware baseline: the time that this machine needs, without MPI, for the operations that
 * one-sided communication consists of.
 *
 * A measurement of an MPI is compared with this baseline. An atomic operation on a window that two
 * processes share cannot be faster than the processor's own atomic operation, a put not faster than
 * a copy, an operation over TCP not faster than a round trip through the loopback device. A helper
 * thread costs at least the creation of a thread, and no time is more exact than its clock.
 *
 * Atomic operations after Schweizer, Besta, Hoefler, "Evaluating the Cost of Atomic Operations on
 * Modern Architectures", PACT 2015 (latency of fetch-and-add and compare-and-swap on a line that
 * one core, or two at once, write to). The other baselines are own definitions.
 *
 * Timed, in seconds, at rank 1: bursts of k, a burst as a whole, k recorded. Meanwhile rank 0, the
 * partner, and all others sleep on a semaphore, so that they use neither a core nor a cache line.
 * In a contended baseline the partner does the same as rank 1, as fast as it can. Threads after
 * Marcelo Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM SG24-5611,
 * 1999): 4.2.1 (what a thread's creation takes), 4.2.4 with Figure 35 and 4.1.10 (barriers of
 * threads that sleep, and that spin), 2.3.2.1 (values of several threads in one line). Both threads
 * are rank 1's. Verified: the sum of all atomic operations of both ranks; every copy, by the
 * partner; every message, at both ends; that each thread ran; the counts of both threads; that the
 * clock never steps back. */
#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <stdint.h>

#include "harness/launch.h"
#include "harness/watchdog.h"
#include "machine/baseline/baseline.h"
#include "mpi/await.h"
#include "mpi/checked.h"
#include "mpi/world.h"

#define SETTLE_S 50e-6 /* from the partner's flag to the burst: it falls asleep or begins */
#define COPIED_BYTES (128 << 10) /* in one burst, unless a copy is larger */

/* ---- All baselines ---- */

static const struct baseline baselines[] = {
    {.name = "atomic_add", .longest_burst = 1000, .kind = &atomic_operations, .repeat = add},
    {.name = "atomic_add_contended",
     .longest_burst = 1000,
     .contended = true,
     .kind = &atomic_operations,
     .repeat = add,
     .accompany = compete},
    {.name = "compare_and_swap",
     .longest_burst = 1000,
     .kind = &atomic_operations,
     .repeat = compare_and_swap},
    {.name = "compare_and_swap_contended",
     .longest_burst = 1000,
     .contended = true,
     .kind = &atomic_operations,
     .repeat = compare_and_swap,
     .accompany = compete},
    {.name = "copy", .longest_burst = 1000, .has_sizes = true, .kind = &copies, .repeat = copy},
    {.name = "socket_round_trip",
     .longest_burst = 20,
     .kind = &messages,
     .repeat = round_trip,
     .accompany = echo},
    {.name = "thread_creation", .longest_burst = 10, .kind = &counted, .repeat = create_threads},
    {.name = "mutex_barrier",
     .longest_burst = 20,
     .kind = &meetings,
     .repeat = meet_by_mutex,
     .second = meet_too_by_mutex},
    {.name = "openmp_barrier", .longest_burst = 20, .kind = &openmp, .repeat = meet_by_openmp},
    {.name = "false_sharing",
     .longest_burst = 10000,
     .contended = true,
     .kind = &beside,
     .repeat = increment,
     .second = increment_too},
    {.name = "own_lines",
     .longest_burst = 10000,
     .contended = true,
     .has_own_lines = true,
     .kind = &beside,
     .repeat = increment,
     .second = increment_too},
    {.name = "timer", .longest_burst = 1000, .kind = &counted, .repeat = read_clock},
};

static const struct axis axes[] = {
    CHOICE_AXIS("baseline", "what is measured",
                "atomic_add,atomic_add_contended,compare_and_swap,compare_and_swap_contended,copy,"
                "socket_round_trip,thread_creation,mutex_barrier,openmp_barrier,false_sharing,"
                "own_lines,timer",
                baselines),
    INTEGER_AXIS("size_bytes", "size of a copy, a multiple of 8; 8 for all others", "8", WORD_BYTES,
                 1 << 20),
};

static const struct option options[] = {
    {"samples", "N", "bursts to time", OPTION_INTEGER, "20", 1, SERIES_SAMPLES_MAX},
    {"burst", "K", "operations in a burst, at most: those that take long have fewer",
     OPTION_INTEGER, "10000", 1, 100000},
    {"miscount", NULL, "for tests: rank 1 counts an operation too few in each cell", OPTION_FLAG,
     NULL, 0, 0},
};

/* ---- One sample ---- */

static void sleep_until_over(struct experiment *experiment)
{
    while (sem_wait(&experiment->page->wake) != 0 && errno == EINTR) {
    }
}

static void be_partner(struct experiment *experiment)
{
    atomic_store(&experiment->page->there, experiment->sample);
    if (experiment->baseline->accompany == NULL) {
        sleep_until_over(experiment);
    } else {
        experiment->baseline->accompany(experiment);
    }
}

static void let_others_go(struct experiment *experiment)
{
    const int sleepers = experiment->launch->ranks - 1 - (experiment->baseline->accompany != NULL);
    atomic_store(&experiment->page->over, experiment->sample);
    for (int i = 0; i < sleepers; i++) {
        sem_post(&experiment->page->wake);
    }
}

/* The other process or thread may have lost its core: wait for its next operation. */
static void await_other(const struct experiment *experiment)
{
    const int64_t done = experiment->baseline->kind->others_done(experiment);
    while (experiment->baseline->kind->others_done(experiment) == done) {
        sched_yield();
    }
}

/* THE TIMED LOOP is the baseline's own; returns seconds. */
static double time_burst(struct experiment *experiment)
{
    await_word(&experiment->page->there, experiment->sample, world_communicator);
    const double settled_s = clock_now_s() + SETTLE_S;
    while (clock_now_s() < settled_s) {
    }
    experiment->changed = 0;
    if (experiment->baseline->contended) {
        await_other(experiment);
        experiment->before = experiment->baseline->kind->others_done(experiment);
    }
    const double begin_s = clock_now_s();
    experiment->baseline->repeat(experiment, experiment->burst);
    const double end_s = clock_now_s();
    if (experiment->baseline->contended) {
        experiment->after = experiment->baseline->kind->others_done(experiment);
    }
    experiment->done += experiment->changed;
    return end_s - begin_s;
}

/* At the origin: time a burst, and count the operations of the other process or thread during the
 * burst. This number shows whether there was contention. */
static void be_origin(struct experiment *experiment, struct series *time, struct series *competing)
{
    if (experiment->baseline->kind->prepare != NULL) {
        experiment->baseline->kind->prepare(experiment);
    }
    const double burst_s = time_burst(experiment);
    let_others_go(experiment);
    if (time != NULL) {
        series_add(time, burst_s / (double)experiment->burst);
    }
    if (competing != NULL) {
        series_add(competing, (double)(experiment->after - experiment->before));
    }
}

/* All ranks; the series are NULL in the warm-up. */
static void run_sample(struct experiment *experiment, struct series *time, struct series *competing)
{
    const int rank = experiment->launch->rank;
    experiment->sample++;
    watchdog_phase = "burst";
    CHECKED(MPI_Barrier(world_communicator));
    if (rank == ORIGIN) {
        be_origin(experiment, time, competing);
    } else if (rank == PARTNER) {
        be_partner(experiment);
    } else {
        sleep_until_over(experiment);
    }
    CHECKED(MPI_Barrier(world_communicator));
    watchdog_phase = "verify";
    if (rank <= ORIGIN && experiment->baseline->kind->inspect != NULL) {
        experiment->baseline->kind->inspect(experiment);
    }
}

static void take_samples(struct experiment *experiment)
{
    const long long samples = options_integer(&experiment->launch->options, "samples");
    struct record *record = experiment->record;
    struct series *time = NULL;
    struct series *competing = NULL;
    run_sample(experiment, NULL, NULL);
    if (experiment->launch->rank == ORIGIN) {
        time = record_series(record, "time", "s", (int)experiment->burst);
        if (experiment->baseline->contended) {
            competing = record_series(record, "competing", "count", (int)experiment->burst);
        }
    }
    for (long long i = 0; i < samples; i++) {
        run_sample(experiment, time, competing);
    }
}

/* ---- One cell ---- */

static void plan_burst(struct experiment *experiment)
{
    const int64_t size_bytes = (int64_t)cell_number(experiment->cell, "size_bytes");
    const int64_t asked = options_integer(&experiment->launch->options, "burst");
    const int64_t longest = experiment->baseline->longest_burst;
    const int64_t room = size_bytes < COPIED_BYTES ? COPIED_BYTES / size_bytes : 1;
    experiment->burst = asked < longest ? asked : longest;
    experiment->elements = (size_t)(size_bytes / WORD_BYTES);
    if (experiment->burst > room) {
        experiment->burst = room;
    }
}

static const char *contradiction(const struct experiment *experiment)
{
    const int size_bytes = (int)cell_number(experiment->cell, "size_bytes");
    if (size_bytes % WORD_BYTES != 0) {
        return "the size of a copy must be a multiple of 8 bytes";
    }
    if (size_bytes != WORD_BYTES && !experiment->baseline->has_sizes) {
        return "only a copy has a size other than 8 bytes";
    }
    return NULL;
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    struct experiment experiment = {.launch = launch,
                                    .cell = cell,
                                    .record = record,
                                    .baseline = cell_choice(cell, "baseline"),
                                    .socket = -1};
    const char *reason = contradiction(&experiment);
    if (reason != NULL) {
        record_status(record, CELL_UNSUPPORTED, "%s", reason);
        return;
    }
    watchdog_phase = "open";
    plan_burst(&experiment);
    if (!page_open(&experiment)) {
        return;
    }
    const struct baseline_kind *kind = experiment.baseline->kind;
    if (kind->open == NULL || kind->open(&experiment)) {
        watchdog_phase = "start";
        launch_common_start(launch);
        take_samples(&experiment);
        kind->verify(&experiment);
    }
    watchdog_phase = "close";
    if (kind->close != NULL) {
        kind->close(&experiment);
    }
    page_close(&experiment);
}

KERNEL("baseline", "what this machine needs for what one-sided communication is made of",
       .run_cell = run_cell)
