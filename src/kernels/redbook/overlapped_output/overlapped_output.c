/* Overlapped output: is the output of a time step hidden behind the computation of the next one?
 *
 * Source: Marcelo Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM
 * SG24-5611, 1999), section 4.2.7, Figure 38: thread 0 waits in a barrier until the other threads
 * have computed a step, copies their data, waits for them in a second barrier, and writes the copy
 * while they compute the next step. For comparison one thread computes and writes in turn, or uses
 * MPI's nonblocking write of a copy. In place of computing, pairs of ranks can exchange as many
 * bytes as they write: if messages and output use one channel, both are slower (section 6.1.3).
 * Timed, in seconds a step, in each sample: the output alone, the compute alone, both together,
 * with the copy and the barriers. The compute is fixed work, as long as the output alone in the
 * warm-up (series `length`); it begins with writing the values of its step over the values of the
 * step before. Verified: every element of every step, read back from the file after it was closed,
 * and of every message. */
#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"
#include "mpi/world.h"
#include "redbook/overlapped_output/output.h"
#include "slots/room.h"

/* ---- THE TIMED LOOPS ---- */

/* Write a worker's part of the values of a step. */
static void fill_step(struct output *own, int worker, int workers, long long step)
{
    const int end = (int)((long long)own->elements * (worker + 1) / workers);
    for (int i = (int)((long long)own->elements * worker / workers); i < end; i++) {
        own->shared[i] = value_of_step(own, step, i);
    }
}

static void compute_step(struct output *own, int worker, int workers, long long step)
{
    fill_step(own, worker, workers, step);
    if (!own->meanwhile->exchanges) {
        compute_slice(&own->computes[worker], own->length_s);
    } else if (worker == 0) {
        exchange_step(own, step - 1);
    }
}

static void write_step(struct output *own, const int64_t *data, long long step)
{
    own->way->begin(own, data, step);
    own->way->end(own);
}

static void copy_step(struct output *own)
{
    memcpy(own->copy, own->shared, (size_t)bytes_of_step(own));
}

/* One thread writes and computes in turn; also measure the two times. */
static void go_in_turn(struct output *own)
{
    own->output_s = own->compute_s = 0;
    for (long long step = 0; step < own->burst; step++) {
        const double begin_s = clock_now_s();
        write_step(own, own->shared, step);
        const double written_s = clock_now_s();
        compute_step(own, 0, 1, step + 1);
        own->output_s += written_s - begin_s;
        own->compute_s += clock_now_s() - written_s;
    }
}

static void go_later(struct output *own)
{
    for (long long step = 0; step < own->burst; step++) {
        copy_step(own);
        own->way->begin(own, own->copy, step);
        compute_step(own, 0, 1, step + 1);
        own->way->end(own);
    }
}

/* Figure 38. */
static void thread_function(void *state, int number)
{
    struct output *own = state;
    for (long long step = 0; step < own->burst; step++) {
        thread_barrier_wait(&own->barrier); /* all threads have computed the step */
        if (number == 0) {
            copy_step(own);
        }
        thread_barrier_wait(&own->barrier); /* thread 0 has copied the step */
        if (number == 0) {
            write_step(own, own->copy, step);
        } else {
            compute_step(own, number - 1, own->team.count - 1, step + 1);
        }
    }
}

static double time_output(void *state, long long burst)
{
    struct output *own = state;
    own->burst = burst;
    go_in_turn(own);
    return own->output_s;
}

static double time_compute(void *state, long long burst)
{
    time_output(state, burst);
    return ((struct output *)state)->compute_s;
}

static double time_both(void *state, long long burst)
{
    struct output *own = state;
    own->burst = burst;
    const double begin_s = clock_now_s();
    if (own->way->by_thread) {
        team_run(&own->team);
    } else if (own->way->is_later) {
        go_later(own);
    } else {
        go_in_turn(own);
    }
    return clock_now_s() - begin_s;
}

static const struct sample_timing timings[] = {
    {"output", time_output}, {"compute", time_compute}, {"both", time_both}};

static const struct until untils[] = {{"cache", false}, {"device", true}};

static const struct meanwhile meanwhiles[] = {{"computes", false}, {"exchanges", true}};

static const struct axis axes[] = {
    CHOICE_AXIS("way", "how a step is written, and whether a thread does that while others compute",
                "posix,iwrite_at", ways),
    {.name = "workers",
     .help = "threads that compute, beside the thread that writes",
     .kind = AXIS_INTEGER,
     .fallback = "1",
     .minimum = 1,
     .maximum = TEAM_MAX - 1,
     .only_with = "way=thread_posix,thread_write_at"},
    CHOICE_AXIS(
        "until",
        "where a step is when its output ends: in the system's page cache, or on the device",
        "cache", untils),
    STORAGE_AXIS("disk"),
    INTEGER_AXIS("size_bytes", "size of a rank's output in a step, a multiple of 8", "65536", 8,
                 1 << 26),
    CHOICE_AXIS("meanwhile", "what the ranks do in a step beside their output", "computes",
                meanwhiles),
    {.name = "message_bytes",
     .help = "size of a message, a multiple of 8; all of a step have as many bytes as its output",
     .kind = AXIS_INTEGER,
     .fallback = "65536",
     .minimum = 8,
     .maximum = 1 << 26,
     .only_with = "meanwhile=exchanges"},
};

static const struct option options[] = {
    SLOT_OPTIONS,
    STORAGE_OPTIONS,
    NUMBER_OPTION("compute-us", "MICROSECONDS",
                  "length of a compute; 0: as long as the output alone in the warm-up", "0", 0,
                  1e7),
};

/* ---- Around a burst, untimed ---- */

/* Set the values of the first step before the burst. */
static void prepare(void *state, long long burst)
{
    struct output *own = state;
    own->first += (uint64_t)own->burst + 1;
    own->burst = burst;
    fill_step(own, 0, 1, 0);
    exchange_prepare(own);
    open_output(own);
}

static void check(void *state, long long burst)
{
    (void)burst;
    check_output(state);
    exchange_check(state);
}

/* The compute is as long as the output alone, unless a length is given; this includes the writing
 * of values. Messages have no length to choose. */
static double choose_length(void *state, double output_s)
{
    struct output *own = state;
    if (own->meanwhile->exchanges) {
        return 3 * (output_s + own->compute_s / (double)own->burst);
    }
    const double asked_s = 1e-6 * options_number(&own->launch->options, "compute-us");
    const double length_s = asked_s > 0 ? asked_s : output_s;
    const double fill_s = own->compute_s / (double)own->burst; /* so far the compute only fills */
    own->length_s = length_s > fill_s ? length_s - fill_s : 0;
    series_add(record_series(own->record, "length", "s", 1), length_s);
    return 3 * (output_s + length_s);
}

/* ---- One cell ---- */

static void take_samples(struct output *own, const struct cell *cell)
{
    exchange_open(own, cell_number(cell, "message_bytes"));
    own->shared = allocate_pages((size_t)bytes_of_step(own));
    own->copy = allocate_pages((size_t)bytes_of_step(own));
    for (int worker = 0; worker < TEAM_MAX; worker++) {
        own->computes[worker] = own->launch->compute;
    }
    thread_barrier_open(&own->barrier, own->team.count);
    team_open(&own->team);
    trial_run(&(struct trial){.launch = own->launch,
                              .cell = cell,
                              .record = own->record,
                              .state = own,
                              .longest = own->steps,
                              .prepare = prepare,
                              .go = time_output,
                              .check = check,
                              .timing_count = sizeof timings / sizeof timings[0],
                              .timings = timings,
                              .warmed = choose_length});
    team_close(&own->team);
    thread_barrier_close(&own->barrier);
    free(own->copy);
    free(own->shared);
    exchange_close(own);
}

/* The thread level: only thread 0 calls MPI, another thread calls it, or both at once. */
static enum thread_level level_of(const struct output *own)
{
    const bool at_once = own->meanwhile->exchanges && own->way->by_mpi;
    return at_once                     ? THREAD_MULTIPLE
           : own->meanwhile->exchanges ? THREAD_SERIALIZED
                                       : THREAD_FUNNELED;
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const long long size_bytes = cell_number(cell, "size_bytes");
    struct output own = {.launch = launch,
                         .record = record,
                         .way = cell_choice(cell, "way"),
                         .until = cell_choice(cell, "until"),
                         .meanwhile = cell_choice(cell, "meanwhile"),
                         .elements = (int)(size_bytes / (long long)sizeof(int64_t)),
                         .traffic = {.found = {.name = "message"}},
                         .found = {.name = "file"}};
    const int threads = own.way->by_thread ? 1 + (int)cell_number(cell, "workers") : 1;
    own.team =
        (struct team){.count = threads, .task = thread_function, .state = &own, .sleeps = true};
    record->helper_threads = launch->busy_threads + threads - 1;
    if (size_bytes % (long long)sizeof(int64_t) != 0) {
        record_status(record, CELL_UNSUPPORTED, "size_bytes is %lld, no multiple of 8", size_bytes);
    } else if (team_is_supported(launch, record, threads, level_of(&own)) &&
               exchange_is_supported(&own, cell_number(cell, "message_bytes")) &&
               (own.steps = slots_choose(launch, record, size_bytes)) > 0 &&
               storage_open(&own.stored, launch, cell, record,
                            launch->ranks * own.steps * size_bytes, -1)) {
        take_samples(&own, cell);
        storage_close(&own.stored, launch);
        storage_record(&own.stored, launch, record);
        record_verification(record, own.found);
    }
}

KERNEL("overlapped_output", "time of output, of a compute, and of both at once",
       .run_cell = run_cell, .runs_alone = true)
