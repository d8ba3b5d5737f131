/* A trial: the samples of a cell, taken by all ranks together. A sample is a burst of operations.
 *
 * Each sample is prepared before and checked after, untimed. A few short bursts come first: they
 * fill caches, make connections, and determine the length of bursts. */
#ifndef ONESIDED_TRIAL_H
#define ONESIDED_TRIAL_H

#include "harness/launch.h"
#include "harness/meeting.h"

#define FLUSH_CACHES "flush-caches"

/* Rows of a kernel's table of options. */
#define TRIAL_OPTIONS(burst_, samples_, budget_)                                                   \
    INTEGER_OPTION("burst", "K", "operations of each origin in a sample, at most", (burst_), 1,    \
                   10000),                                                                         \
        INTEGER_OPTION("samples", "N", "samples of each origin, at most", (samples_), 1,           \
                       SERIES_SAMPLES_MAX),                                                        \
        {.name = FLUSH_CACHES,                                                                     \
         .help = "before each sample, all ranks: throw their data out of the caches",              \
         .kind = OPTION_FLAG},                                                                     \
        NUMBER_OPTION("budget-s", "SECONDS",                                                       \
                      "shorter bursts, then fewer, where a cell would take longer", (budget_),     \
                      1e-6, 3600)

#define TIMINGS_MAX 4

/* One of several timings of a sample: a burst of its own, which is prepared and checked, too. */
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
    long long longest; /* greatest number of operations of a burst: the number of slots */
    /* All ranks, untimed. A barrier follows. */
    void (*prepare)(void *state, long long burst);
    /* All ranks: THE TIMED LOOP; returns the seconds of this rank's slowest burst, 0 if it makes
     * none. A barrier follows. */
    double (*go)(void *state, long long burst);
    /* All ranks, untimed: verify the burst. */
    void (*check)(void *state, long long burst);
    /* NULL, or the series of an operation's time in seconds, at ranks that made a burst: the
     * seconds that `go` returned, divided by the operations. */
    const char *time;
    /* If not 0: each sample has so many timings, one after the other, in place of `go` and `time`.
     * `go` then makes only the bursts of the warm-up. */
    int timing_count;
    const struct sample_timing *timings;
    /* NULL, or called by all ranks, untimed, after the warm-up: an operation took one_s in the
     * fastest burst, at its slowest rank. Returns the time of an operation in all timings of a
     * sample. The slowest rank's value counts, so that all ranks plan alike. */
    double (*warmed)(void *state, double one_s);
    /* NULL, or all ranks, untimed: record further values of a sample that counts. */
    void (*keep)(void *state, long long burst);
    /* In place of samples: bursts of one operation that meet a computing rank, with
     * MEETING_OPTIONS. `part` is this rank's part, `compute` the work of the computing rank or NULL
     * (harness/meeting.h). `is_behind`: the access of this rank needs a call of the computing rank,
     * so it says nothing about progress. */
    bool meets;
    enum meeting_part part;
    struct compute_sample (*compute)(void *state, double length_s);
    bool is_behind;
};

/* Collective: take all samples of the cell. A fault for a test begins here. */
void trial_run(const struct trial *trial);

#endif
