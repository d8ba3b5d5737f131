/* Two threads of rank 1: they increment counters beside each other, or meet at a barrier. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "harness/memory.h"
#include "harness/thread_barrier.h"
#include "machine/baseline/baseline.h"
#include "mpi/team.h"

#define LINE_WORDS (LINE_BYTES / WORD_BYTES)

/* The second thread sleeps between two samples. */
struct pair {
    _Alignas(LINE_BYTES) _Atomic int64_t counters[2 * LINE_WORDS]; /* of both threads */
    _Alignas(LINE_BYTES) _Atomic uint64_t over;                    /* the finished sample */
    _Alignas(LINE_BYTES) struct thread_barrier barrier;
    _Atomic int64_t *second_counter;
    sem_t begin;
    uint64_t sample; /* number of the sample that begins */
    bool is_ended;
    pthread_t thread;
};

static void *second_main(void *argument)
{
    struct experiment *experiment = argument;
    for (;;) {
        while (sem_wait(&experiment->pair->begin) != 0 && errno == EINTR) {
        }
        if (experiment->pair->is_ended) {
            return NULL;
        }
        experiment->baseline->second(experiment);
    }
}

static bool open_pair(struct experiment *experiment)
{
    if (experiment->launch->rank == ORIGIN) {
        const int place = experiment->baseline->has_own_lines ? LINE_WORDS : 1;
        experiment->pair = allocate_pages(sizeof *experiment->pair);
        experiment->pair->second_counter = &experiment->pair->counters[place];
        thread_barrier_open(&experiment->pair->barrier, 2);
        sem_init(&experiment->pair->begin, 0, 0);
        experiment->pair->thread = team_start(second_main, experiment);
    }
    return true;
}

static void begin_second(struct experiment *experiment)
{
    experiment->pair->sample = experiment->sample;
    sem_post(&experiment->pair->begin);
}

static void end_second(struct experiment *experiment)
{
    experiment->pair->is_ended = true;
    sem_post(&experiment->pair->begin);
    pthread_join(experiment->pair->thread, NULL);
}

static void close_pair(struct experiment *experiment)
{
    if (experiment->pair != NULL) {
        sem_destroy(&experiment->pair->begin);
        thread_barrier_close(&experiment->pair->barrier);
        free(experiment->pair);
    }
}

/* ---- Counters in one line, or in a line each ---- */

static inline void add_one(_Atomic int64_t *counter)
{
    const int64_t value = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, value + 1, memory_order_relaxed);
}

void increment(struct experiment *experiment, int64_t repeat)
{
    _Atomic int64_t *const counter = experiment->pair->counters;
    const int64_t before = *counter;
    for (int64_t i = 0; i < repeat; i++) {
        add_one(counter);
    }
    atomic_store(&experiment->pair->over, experiment->sample);
    experiment->changed += *counter - before - miscounts_now(experiment);
}

/* The second thread increments until the first thread's burst is over. */
void increment_too(struct experiment *experiment)
{
    struct pair *pair = experiment->pair;
    int64_t count = 0;
    while (atomic_load_explicit(&pair->over, memory_order_relaxed) != pair->sample) {
        add_one(pair->second_counter);
        count++;
    }
    experiment->second_done += count;
}

static int64_t second_counted(const struct experiment *experiment)
{
    return atomic_load_explicit(experiment->pair->second_counter, memory_order_relaxed);
}

static void verify_counters(struct experiment *experiment)
{
    verify_count(experiment);
    if (experiment->launch->rank == ORIGIN) {
        end_second(experiment);
        record_verification(experiment->record, verify_exact("second", second_counted(experiment),
                                                             experiment->second_done));
    }
}

const struct baseline_kind beside = {.open = open_pair,
                                     .close = close_pair,
                                     .prepare = begin_second,
                                     .verify = verify_counters,
                                     .others_done = second_counted};

/* ---- A barrier ---- */

void meet_by_mutex(struct experiment *experiment, int64_t repeat)
{
    for (int64_t i = 0; i < repeat; i++) {
        thread_barrier_wait(&experiment->pair->barrier);
    }
    experiment->changed += repeat - miscounts_now(experiment);
}

void meet_too_by_mutex(struct experiment *experiment)
{
    for (int64_t i = 0; i < experiment->burst; i++) {
        thread_barrier_wait(&experiment->pair->barrier);
        experiment->second_done++;
    }
}

static void verify_meetings(struct experiment *experiment)
{
    if (experiment->launch->rank == ORIGIN) {
        end_second(experiment);
    }
    verify_both_counts(experiment);
}

const struct baseline_kind meetings = {
    .open = open_pair, .close = close_pair, .prepare = begin_second, .verify = verify_meetings};
