/* The uncontended latency of an operation: its time while nobody computes, from bursts of k. It
 * means the same in all kernels.
 *
 * It is taken at one or several moments of a launch. At each moment some ranks make bursts, all at
 * once, while the others wait in MPI or take their part in the epochs. Beside the latency the state
 * of the two cores is recorded: how far apart they are, and how many operations each does at a
 * time. Every burst is prepared and verified outside the timed part. */
#ifndef ONESIDED_LATENCY_H
#define ONESIDED_LATENCY_H

#include <stdbool.h>

#include "harness/launch.h"

/* Rows of a kernel's table of options. */
#define LATENCY_OPTIONS                                                                            \
    {"latency-burst", "K",   "operations in a sample of the latency, at most; 0: no latency",      \
     OPTION_INTEGER,  "100", 0,                                                                    \
     100000},                                                                                      \
        {"latency-samples", "N",  "samples of the latency at a time, at most; 0: no latency",      \
         OPTION_INTEGER,    "10", 0,                                                               \
         SERIES_SAMPLES_MAX},                                                                      \
        {"latency-budget-s",                                                                       \
         "SECONDS",                                                                                \
         "shorter bursts, then fewer, where the latency would take longer at a time",              \
         OPTION_NUMBER,                                                                            \
         "0.005",                                                                                  \
         1e-6,                                                                                     \
         3600},                                                                                    \
        {"latency-patience-s",                                                                     \
         "SECONDS",                                                                                \
         "for so long at a time a burst on a core that another uses too is made again",            \
         OPTION_NUMBER,                                                                            \
         "0.002",                                                                                  \
         0,                                                                                        \
         1},                                                                                       \
        {"latency-passes",                                                                         \
         "N",                                                                                      \
         "how often each latency is taken again, later in the launch",                             \
         OPTION_INTEGER,                                                                           \
         "4",                                                                                      \
         0,                                                                                        \
         100}

/* What the ranks do at a moment of a latency. Functions get `state`; all but `burst` may be
 * NULL. */
struct timing {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    void *state;
    bool again;        /* not the first moment of this cell in the launch */
    bool makes;        /* this rank makes the bursts that are timed */
    bool first;        /* the first of these ranks: its core is measured */
    bool answers;      /* the target: its core is measured, too */
    bool alone;        /* one rank makes bursts, and no other takes part: it may repeat a burst */
    bool own_cores;    /* the ranks have a core each; else widths would say nothing */
    long long longest; /* operations a burst may have */
    /* Untimed, at a rank that makes bursts: before and after each burst. */
    void (*prepare)(void *state, long long burst);
    void (*check)(void *state, long long burst);
    /* At a rank that makes bursts: THE TIMED LOOP; returns seconds. */
    double (*burst)(void *state, long long burst);
    /* At any other rank: take part in a burst and in the check after it. */
    void (*accompany)(void *state, long long burst);
    /* At any other rank, after a moment: so many bursts of this length were made. */
    void (*follow)(void *state, long long bursts, long long burst);
};

/* Collective: take one moment, with the series `latency` and the series of the cores. */
void latency_take(const struct timing *timing);

/* Tell whether a cell's latency was taken in this launch. */
bool latency_was_taken(const struct cell *cell);

#endif
