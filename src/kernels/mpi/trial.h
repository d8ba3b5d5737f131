/* A trial: the samples of a cell, taken by all ranks together. A sample is a burst of operations.
 *
 * Each sample is prepared before and checked after, untimed. A few short bursts come first: they
 * fill caches, make connections, and say how long a burst may be. */
#ifndef ONESIDED_TRIAL_H
#define ONESIDED_TRIAL_H

#include "harness/launch.h"
#include "harness/meeting.h"

#define FLUSH_CACHES "flush-caches"

/* Rows of a kernel's table of options. */
#define TRIAL_OPTIONS(burst_, samples_, budget_)                                                   \
    {.name = "burst",                                                                              \
     .argument = "K",                                                                              \
     .help = "operations of each origin in a sample, at most",                                     \
     .kind = OPTION_INTEGER,                                                                       \
     .fallback = (burst_),                                                                         \
     .minimum = 1,                                                                                 \
     .maximum = 10000},                                                                            \
        {.name = "samples",                                                                        \
         .argument = "N",                                                                          \
         .help = "samples of each origin, at most",                                                \
         .kind = OPTION_INTEGER,                                                                   \
         .fallback = (samples_),                                                                   \
         .minimum = 1,                                                                             \
         .maximum = SERIES_SAMPLES_MAX},                                                           \
        {.name = FLUSH_CACHES,                                                                     \
         .help = "before each sample, all ranks: throw their data out of the caches",              \
         .kind = OPTION_FLAG},                                                                     \
        {.name = "budget-s",                                                                       \
         .argument = "SECONDS",                                                                    \
         .help = "shorter bursts, then fewer, where a cell would take longer",                     \
         .kind = OPTION_NUMBER,                                                                    \
         .fallback = (budget_),                                                                    \
         .minimum = 1e-6,                                                                          \
         .maximum = 3600}

#define TIMINGS_MAX 4

/* One of several timings of a sample: a burst of its own, prepared and checked as any other. */
struct sample_timing {
    const char *time;                           /* as in struct trial */
    double (*go)(void *state, long long burst); /* the same */
};

/* What the ranks do in a sample. All functions get `state` and the operations of the burst. */
struct trial {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    void *state;
    long long longest; /* operations a burst may have: as many as there are slots */
    /* All ranks, untimed. A barrier follows. */
    void (*prepare)(void *state, long long burst);
    /* All ranks: THE TIMED LOOP; returns the seconds of this rank's slowest burst, 0 where it makes
     * none. A barrier follows. */
    double (*go)(void *state, long long burst);
    /* All ranks, untimed: what has become of the burst. */
    void (*check)(void *state, long long burst);
    /* NULL, or the series, in seconds, of an operation: what `go` returned by those of the burst,
     * at ranks that made one. */
    const char *time;
    /* So many timings of each sample, one after the other, in place of `go` and `time`; `go` makes
     * the bursts that warm up. */
    int timing_count;
    const struct sample_timing *timings;
    /* NULL, or all ranks, untimed, after those: an operation took so long in the fastest, at its
     * slowest rank. Returns what it will take in all timings of a sample; the slowest rank's
     * counts, so that all ranks plan alike. */
    double (*warmed)(void *state, double one_s);
    /* NULL, or all ranks, untimed: what else is kept of a sample that counts. */
    void (*keep)(void *state, long long burst);
    /* In place of samples that are kept: bursts of one operation that meet a computing rank, with
     * MEETING_OPTIONS. What this rank does then; for the rank that computes NULL, or what it does
     * (harness/meeting.h); and whether an access ends only after a call that this rank makes later:
     * it then tells nothing of progress. */
    bool meets;
    enum meeting_part part;
    struct compute_sample (*compute)(void *state, double length_s);
    bool is_behind;
};

/* Collective: all samples of the cell. A fault that a test wants begins here. */
void trial_run(const struct trial *trial);

#endif
