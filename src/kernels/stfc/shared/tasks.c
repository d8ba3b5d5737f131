/* Tasks whose numbers come from a shared counter. */
#include "stfc/shared/tasks.h"

#include "harness/watchdog.h"
#include "harness/world.h"

#define FEWEST_TASKS_IN_BUDGET 3

static int64_t tasks_per_rank(const struct launch *launch, const struct cell *cell)
{
    const int64_t asked = options_integer(&launch->options, "tasks-per-rank");
    const double budget_s = options_number(&launch->options, "task-budget-s");
    const double compute_s = 1e-3 * cell_number(cell, "compute_ms");
    if (budget_s <= 0 || (double)asked * compute_s <= budget_s) {
        return asked;
    }
    const int64_t affordable = (int64_t)(budget_s / compute_s);
    const int64_t fewest = asked < FEWEST_TASKS_IN_BUDGET ? asked : FEWEST_TASKS_IN_BUDGET;
    return affordable < fewest ? fewest : affordable;
}

int64_t tasks_numbers(const struct launch *launch, const struct cell *cell, int64_t takers)
{
    const int64_t further = options_integer(&launch->options, "further-tasks");
    const int64_t tasks = tasks_per_rank(launch, cell) * takers + further;
    return tasks * options_integer(&launch->options, "accesses-per-task");
}

/* THE TIMED LOOP: the kernel times each access. */
static void take_tasks(const struct tasks *tasks)
{
    struct record *record = tasks->record;
    struct launch *launch = tasks->launch;
    struct series *access = record_series(record, "access", "s", 1);
    struct series *access_begin = record_series(record, "access_begin", "s", 1);
    struct series *compute = record_series(record, "compute", "s", 1);
    struct series *compute_requested = record_series(record, "compute_requested", "s", 1);
    struct series *compute_begin = record_series(record, "compute_begin", "s", 1);
    struct series *run_delay = record_series(record, "compute_run_delay", "s", 1);
    struct series *switches = record_series(record, "compute_switches", "count", 1);
    struct series *last_access = record_series(record, "last_access", "s", 1);
    const double length_s = 1e-3 * cell_number(tasks->cell, "compute_ms");
    const double spread = 1e-2 * cell_number(tasks->cell, "spread_percent");
    const int64_t per_task = options_integer(&launch->options, "accesses-per-task");
    uint64_t random = (uint64_t)options_integer(&launch->options, "seed") * 1000003u +
                      tasks->cell->index * 1009u + (uint64_t)launch->rank;

    for (int64_t done = 0; done <= tasks->count; done++) {
        int64_t number = 0;
        watchdog_phase = "access";
        const double begin_s = clock_now_s();
        const double taken_s = tasks->take(tasks->state, &number);
        if (number - tasks->first_task >= tasks->count) {
            series_add(last_access, taken_s);
            break;
        }
        series_add(access_begin, begin_s - tasks->start_s);
        series_add(access, taken_s);
        if ((done + 1) % per_task != 0) {
            continue;
        }

        watchdog_phase = "compute";
        const double requested_s = length_s * (1.0 + spread * (2.0 * random_unit(&random) - 1.0));
        const struct compute_sample sample = compute_for(&launch->compute, requested_s);
        series_add(compute_requested, requested_s);
        series_add(compute, sample.end_s - sample.begin_s);
        series_add(compute_begin, sample.begin_s - tasks->start_s);
        series_add(run_delay, sample.run_delay_s);
        series_add(switches, sample.involuntary_switches);
    }
}

void tasks_run(struct tasks *tasks)
{
    watchdog_phase = "start";
    tasks->start_s = launch_common_start(tasks->launch);
    if (tasks->takes) {
        take_tasks(tasks);
    }
    watchdog_phase = "wait";
    const double done_s = clock_now_s();
    world_barrier();
    const double over_s = clock_now_s();
    series_add(record_series(tasks->record, "wait", "s", 1), over_s - done_s);
    series_add(record_series(tasks->record, "total", "s", 1), over_s - tasks->start_s);
}
