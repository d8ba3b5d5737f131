/* The shared counter with OpenSHMEM: how long does a process wait for the next number while the
 * target computes, if one atomic operation takes the number?
 *
 * Source: "Is MPI-2 suitable for quantum chemistry? Performance of passive target one-sided
 * communications", technical report, STFC, 2008, section 2, as the kernel shared_counter with its
 * cases target_computes and target_idle. The counter is a symmetric variable of rank 0. Every rank
 * (except rank 0 if it is idle) takes a number with shmem_atomic_fetch_inc, computes and takes the
 * next number, until all tasks are taken.
 *
 * Timed, in seconds: each access, each compute, the last access (which finds no task). Verified:
 * the numbers that all ranks got are 0, 1, 2, ... each once, increasing on every rank; the counter
 * ends at the number of accesses. */
#include <stdlib.h>

#include "harness/launch.h"
#include "harness/memory.h"
#include "harness/numbers.h"
#include "harness/watchdog.h"
#include "openshmem/called.h"
#include "openshmem/symmetric.h"
#include "stfc/shared/tasks.h"

#define TARGET 0

struct algorithm {
    const char *name;
};

struct counter_case {
    const char *name;
    bool target_takes_tasks; /* else it waits in a barrier */
};

static const struct algorithm algorithms[] = {{"shmem_fetch_inc"}};
static const struct counter_case cases[] = {{"target_computes", true}, {"target_idle", false}};

static const struct axis axes[] = {
    CHOICE_AXIS("algorithm", "how the next number is taken", "shmem_fetch_inc", algorithms),
    NO_FLAVOR_AXIS("algorithm="),
    CHOICE_AXIS("case", "what the target does meanwhile", "target_computes,target_idle", cases),
    COMPUTE_MS_AXIS,
    SPREAD_PERCENT_AXIS,
};

static const struct option options[] = {TASKS_OPTIONS};

struct experiment {
    const struct launch *launch;
    const struct cell *cell;
    long long *counter; /* symmetric; rank 0's is the counter */
    int64_t *numbers;   /* all numbers that this rank got, in order */
    size_t count;
};

/* This function makes and times every access of the program. */
static double take_number(void *state, int64_t *number)
{
    struct experiment *experiment = state;
    const double begin_s = clock_now_s();
    CALLED_FOR(*number, shmem_longlong_atomic_fetch_inc(experiment->counter, TARGET));
    const double end_s = clock_now_s();
    experiment->numbers[experiment->count++] = *number;
    return end_s - begin_s;
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct counter_case *counter_case = cell_choice(cell, "case");
    const bool takes = counter_case->target_takes_tasks || launch->rank != TARGET;
    const int64_t takers = launch->ranks - !counter_case->target_takes_tasks;
    const int64_t warm_up = options_integer(&launch->options, "warm-up");
    const int64_t count = tasks_numbers(launch, cell, takers);
    struct experiment experiment = {.launch = launch,
                                    .cell = cell,
                                    .counter = symmetric_allocate(sizeof(long long)),
                                    .numbers =
                                        allocate((size_t)(warm_up + count + 1), sizeof(int64_t))};
    watchdog_phase = "warm-up";
    for (int64_t i = 0, number; takes && i < warm_up; i++) {
        take_number(&experiment, &number);
    }
    tasks_run(&(struct tasks){.launch = launch,
                              .cell = cell,
                              .record = record,
                              .takes = takes,
                              .first_task = warm_up * takers,
                              .count = count,
                              .state = &experiment,
                              .take = take_number});
    numbers_verify(launch, record, experiment.numbers, experiment.count, *experiment.counter);
    symmetric_free(experiment.counter);
    free(experiment.numbers);
}

KERNEL("shared_counter", "time to take a number from a shared counter while its target computes",
       .run_cell = run_cell)
