/* Tasks whose numbers come from a shared counter: take a number, compute, take the next.
 *
 * Source: "Is MPI-2 suitable for quantum chemistry? Performance of passive target one-sided
 * communications", technical report, STFC, 2008, section 2. The kernels provide the counter. */
#ifndef ONESIDED_TASKS_H
#define ONESIDED_TASKS_H

#include <stdint.h>

#include "harness/launch.h"

/* Rows of a kernel's axes and options. */
#define COMPUTE_MS_AXIS                                                                            \
    {.name = "compute_ms",                                                                         \
     .help = "length of a compute in milliseconds",                                                \
     .kind = AXIS_NUMBER,                                                                          \
     .fallback = "10",                                                                             \
     .maximum = 3600000}
#define SPREAD_PERCENT_AXIS                                                                        \
    {.name = "spread_percent",                                                                     \
     .help = "computes vary uniformly by this share either way",                                   \
     .kind = AXIS_INTEGER,                                                                         \
     .fallback = "0",                                                                              \
     .maximum = 90}
#define TASKS_OPTIONS                                                                              \
    {.name = "tasks-per-rank",                                                                     \
     .argument = "N",                                                                              \
     .help = "tasks in all: this many times the ranks that take any",                              \
     .kind = OPTION_INTEGER,                                                                       \
     .fallback = "5",                                                                              \
     .minimum = 1,                                                                                 \
     .maximum = SERIES_SAMPLES_MAX},                                                               \
        {.name = "task-budget-s",                                                                  \
         .argument = "SECONDS",                                                                    \
         .help = "fewer tasks, but three, where a rank's computes would take longer; 0: no limit", \
         .kind = OPTION_NUMBER,                                                                    \
         .fallback = "0",                                                                          \
         .maximum = 3600},                                                                         \
        {.name = "further-tasks",                                                                  \
         .argument = "N",                                                                          \
         .help = "tasks beyond those of the ranks; the source has one",                            \
         .kind = OPTION_INTEGER,                                                                   \
         .fallback = "0",                                                                          \
         .maximum = 1000},                                                                         \
        {.name = "accesses-per-task",                                                              \
         .argument = "N",                                                                          \
         .help = "numbers that a rank takes before each compute; a Fock builder makes six",        \
         .kind = OPTION_INTEGER,                                                                   \
         .fallback = "1",                                                                          \
         .minimum = 1,                                                                             \
         .maximum = 1000},                                                                         \
        {.name = "warm-up",                                                                        \
         .argument = "N",                                                                          \
         .help = "untimed accesses of each rank first",                                            \
         .kind = OPTION_INTEGER,                                                                   \
         .fallback = "2",                                                                          \
         .maximum = 1000}

/* How many numbers all ranks take together: for the tasks of each taker, whose number the option or
 * the time budget gives, and for the further tasks. */
int64_t tasks_numbers(const struct launch *launch, const struct cell *cell, int64_t takers);

struct tasks {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    bool takes;         /* this rank takes tasks; else it waits in a barrier */
    int64_t first_task; /* the numbers before it were taken in the warm-up */
    int64_t count;      /* numbers of all ranks together */
    double start_s;     /* their common start */
    void *state;
    /* Take the next number; returns the seconds. */
    double (*take)(void *state, int64_t *number);
};

/* All ranks together: do the tasks, then wait for the last rank. A rank makes at most one access
 * more than there are numbers, even if the counter is broken. */
void tasks_run(struct tasks *tasks);

#endif
