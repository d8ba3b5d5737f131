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
    NUMBER_AXIS("compute_ms", "length of a compute in milliseconds", "10", 0, 3600000)
#define SPREAD_PERCENT_AXIS                                                                        \
    INTEGER_AXIS("spread_percent", "computes vary uniformly by this share either way", "0", 0, 90)
#define TASKS_OPTIONS                                                                              \
    INTEGER_OPTION("tasks-per-rank", "N", "tasks in all: this many times the ranks that take any", \
                   "5", 1, SERIES_SAMPLES_MAX),                                                    \
        NUMBER_OPTION(                                                                             \
            "task-budget-s", "SECONDS",                                                            \
            "fewer tasks, but three, where a rank's computes would take longer; 0: no limit", "0", \
            0, 3600),                                                                              \
        INTEGER_OPTION("further-tasks", "N",                                                       \
                       "tasks beyond those of the ranks; the source has one", "0", 0, 1000),       \
        INTEGER_OPTION("accesses-per-task", "N",                                                   \
                       "numbers that a rank takes before each compute; a Fock builder makes six",  \
                       "1", 1, 1000),                                                              \
        INTEGER_OPTION("warm-up", "N", "untimed accesses of each rank first", "2", 0, 1000)

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
