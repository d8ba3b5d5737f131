/* The uncontended latency of an operation: what it takes while nobody computes, from bursts of k.
 * One meaning for all kernels.
 *
 * It is taken at one moment or at several of a launch. At each moment some ranks make bursts,
 * all at once, while the others wait in MPI or take their part in the epochs. What the cores do
 * meanwhile that MPI cannot be told is beside the latency: how far apart they are, and how many
 * operations they do at a time. Every burst is prepared before and verified after, untimed. */
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

/* What the ranks do at a moment at which a latency is taken. Functions get `state`; all but `burst`
 * may be NULL. */
struct timing {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    void *state;
    bool again;        /* not the first moment of this cell in the launch */
    bool makes;        /* this rank makes the bursts that are timed */
    bool first;        /* of those that make them: its core is looked at */
    bool answers;      /* the target: the other core that is looked at */
    bool alone;        /* one rank makes bursts, and no other takes part: it may make one again */
    bool own_cores;    /* the ranks have a core each; else looks at them would say nothing */
    long long longest; /* operations a burst may have */
    /* Untimed, at a rank that makes bursts: before and after each. */
    void (*prepare)(void *state, long long burst);
    void (*check)(void *state, long long burst);
    /* At a rank that makes bursts: THE TIMED LOOP; returns seconds. */
    double (*burst)(void *state, long long burst);
    /* At any other rank: take part in a burst and in the check after it. */
    void (*accompany)(void *state, long long burst);
    /* At any other rank, after a moment: the others have made so many bursts of this length. */
    void (*follow)(void *state, long long bursts, long long burst);
};

/* Collective: one moment; the series are `latency` and those beside it. */
void latency_take(const struct timing *timing);

/* Tell whether a cell's latency was taken in this launch. */
bool latency_was_taken(const struct cell *cell);

#endif
