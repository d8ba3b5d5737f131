/* What the files of the kernel `baseline` share: an experiment and the kinds of baselines. */
#ifndef ONESIDED_BASELINE_H
#define ONESIDED_BASELINE_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "harness/launch.h"

#define PARTNER 0
#define ORIGIN 1
#define WORD_BYTES 8
#define LINE_BYTES 128 /* two cache lines: processors also fetch the neighbour */

/* Memory that all ranks share outside MPI; each member has a cache line of its own. */
struct page {
    _Alignas(LINE_BYTES) uint64_t first;         /* shared_page_open writes here */
    _Alignas(LINE_BYTES) _Atomic int64_t word;   /* of atomic operations */
    _Alignas(LINE_BYTES) _Atomic uint64_t there; /* the sample that the partner is ready for */
    _Alignas(LINE_BYTES) _Atomic uint64_t over;  /* the finished sample */
    _Alignas(LINE_BYTES) sem_t wake;
    _Alignas(LINE_BYTES) int64_t copies[]; /* at least COPIED_BYTES, or one copy */
};

struct pair;

struct experiment {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct baseline *baseline;
    struct page *page;
    size_t page_bytes;
    size_t elements; /* of a copy, WORD_BYTES each */
    int64_t burst;   /* operations in a sample */
    uint64_t sample; /* the number of the sample that is running, from 1 */
    int64_t *source; /* at the origin: the data to copy, or to send through a socket */
    int64_t *received;
    int64_t done;        /* this rank's operations that changed the word, or threads that ran */
    int64_t changed;     /* by this rank since the burst began */
    int64_t seen;        /* the word's value when this rank last saw it */
    int64_t before;      /* contended: the other's operations when the burst began */
    int64_t after;       /* the other's operations when the burst ended */
    double last_s;       /* the last reading of the clock */
    int socket;          /* to the other rank */
    struct pair *pair;   /* at the origin: its second thread */
    int64_t second_done; /* operations of the second thread, as it counts them itself */
    bool has_miscounted; /* for tests */
    struct verification check; /* this rank's: of the data copied there, or received */
};

/* What several baselines have in common; a member may be NULL. */
struct baseline_kind {
    /* At all ranks, collective: open what it needs; false, with a reason in the record. */
    bool (*open)(struct experiment *experiment);
    void (*close)(struct experiment *experiment);
    /* Untimed, at the origin: before a sample. */
    void (*prepare)(struct experiment *experiment);
    /* At origin and partner, after each sample. */
    void (*inspect)(struct experiment *experiment);
    /* At all ranks, collective, after the last: leave verifications in the record. */
    void (*verify)(struct experiment *experiment);
    /* Contended baselines, at the origin: how many operations the other side has done. */
    int64_t (*others_done)(const struct experiment *experiment);
};
extern const struct baseline_kind atomic_operations, copies, messages, counted, beside, meetings,
    openmp;

struct baseline {
    const char *name;
    int64_t longest_burst;
    bool contended;     /* the partner, or a second thread, does the same meanwhile */
    bool has_sizes;     /* else its size is WORD_BYTES */
    bool has_own_lines; /* each thread writes to a cache line of its own */
    const struct baseline_kind *kind;
    /* THE TIMED LOOP: `repeat` operations in a row, one after the other */
    void (*repeat)(struct experiment *experiment, int64_t repeat);
    /* At the partner, in place of its sleep; or NULL. */
    void (*accompany)(struct experiment *experiment);
    /* In the second thread of the origin, in each sample; or NULL. */
    void (*second)(struct experiment *experiment);
};

/* page.c: collective; false, with the reason in the record, if the ranks share no memory outside
 * MPI. */
bool page_open(struct experiment *experiment);
void page_close(struct experiment *experiment);
/* atomics.c */
void add(struct experiment *experiment, int64_t repeat);
void compare_and_swap(struct experiment *experiment, int64_t repeat);
void compete(struct experiment *experiment);
/* copies.c */
void copy(struct experiment *experiment, int64_t repeat);
/* messages.c */
void round_trip(struct experiment *experiment, int64_t repeat);
void echo(struct experiment *experiment);
/* counted.c */
void create_threads(struct experiment *experiment, int64_t repeat);
void read_clock(struct experiment *experiment, int64_t repeat);
void verify_count(struct experiment *experiment);
void verify_both_counts(struct experiment *experiment);
/* threads.c */
void increment(struct experiment *experiment, int64_t repeat);
void increment_too(struct experiment *experiment);
void meet_by_mutex(struct experiment *experiment, int64_t repeat);
void meet_too_by_mutex(struct experiment *experiment);
/* barrier_openmp.c */
void meet_by_openmp(struct experiment *experiment, int64_t repeat);

/* For tests, --miscount: true once in a cell, at the origin. */
bool miscounts_now(struct experiment *experiment);

#endif
