/* The shared counter: how long does a process wait for the next number while its target computes?
 *
 * After "Is MPI-2 suitable for quantum chemistry? Performance of passive target one-sided
 * communications", technical report, STFC, 2008, section 2 and appendix A; the tree of counts is
 * the tree of Gropp, Lusk and Thakur ("Using MPI-2", MIT Press, 1999, section 6.5).
 *
 * Rank 0 holds a counter. Every rank takes a number, computes for a while and takes the next number
 * until all are taken: tasks-per-rank for each rank that takes tasks; first come, first served.
 *
 * Timed, in seconds: each access (from before its first MPI call until its number is known), each
 * compute, the last access (which finds no task), the wait in the barrier at the end, the total. If
 * rank 0 does not compute (target_idle), also an access's uncontended latency, in bursts. Verified:
 * the numbers that all ranks got are 0, 1, 2, ... each once, increasing on every rank; the counter
 * ends at the number of accesses; it never falls; no access gets a value of the access before; a
 * helper thread was still in its call at the end. With mpi2_array the next access replaces the
 * element that an access put. If nobody computes, the element is read back after each access,
 * untimed. While the target computes, this would be another access that waits; a lost put is then
 * noticed only by an access of another rank before the next put. */
#include <stdlib.h>

#include "harness/launch.h"
#include "harness/machine.h"
#include "harness/memory.h"
#include "harness/numbers.h"
#include "harness/watchdog.h"
#include "mpi/checked.h"
#include "mpi/helper.h"
#include "mpi/latency.h"
#include "mpi/world.h"
#include "stfc/shared/tasks.h"
#include "stfc/shared_counter/counter.h"

#define LATENCY_RANK 1

/* ---- Cases: what the target does (the report's 1 and 2, and three kinds of its case 3). ---- */

struct counter_case {
    const char *name;
    bool target_takes_tasks; /* else it waits in a barrier */
    const struct helper_kind *helper;
};

static const struct counter_case cases[] = {
    {"target_computes", true, NULL},           {"target_idle", false, NULL},
    {"helper_blocked", true, &helper_blocked}, {"helper_polling", true, &helper_polling},
    {"helper_send", true, &helper_send},
};

static const struct axis axes[] = {
    CHOICE_AXIS("algorithm", "how the next number is taken", "fetch_and_op_flush", algorithms),
    FLAVOR_AXIS("create,allocate"),
    CHOICE_AXIS("case", "what the target does meanwhile", "target_computes,target_idle", cases),
    COMPUTE_MS_AXIS,
    SPREAD_PERCENT_AXIS,
};

static const struct option options[] = {
    TASKS_OPTIONS,
    {"counter-bytes", "4|8", "width of the counter", OPTION_CHOICE, "8", 0, 0},
    LATENCY_OPTIONS,
};

/* ---- One cell ---- */

struct experiment {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct counter_case *counter_case;
    struct counter counter;
    bool takes_tasks;
    int64_t *numbers; /* all numbers that this rank got, in order */
    size_t number_count, number_room;
    bool again; /* the cell is finished: only its latency is taken again */
};

static void make_room(struct experiment *experiment, long long numbers)
{
    const size_t needed = experiment->number_count + (size_t)numbers;
    if (needed > experiment->number_room) {
        experiment->number_room = 2 * needed;
        experiment->numbers = reallocate(experiment->numbers,
                                         experiment->number_room * sizeof experiment->numbers[0]);
    }
}

/* Take `burst` numbers; return the seconds. This function makes every access of the program. */
static double take_numbers(struct experiment *experiment, long long burst)
{
    struct counter *counter = &experiment->counter;
    int64_t (*next)(struct counter *) = counter->algorithm->next;
    make_room(experiment, burst);
    int64_t *numbers = experiment->numbers + experiment->number_count;
    const double begin_s = clock_now_s();
    for (long long i = 0; i < burst; i++) {
        numbers[i] = next(counter);
    }
    const double end_s = clock_now_s();
    experiment->number_count += (size_t)burst;
    return end_s - begin_s;
}

/* After an access, untimed; only while the target waits in MPI. */
static void read_back(struct experiment *experiment)
{
    const struct algorithm *algorithm = experiment->counter.algorithm;
    if (algorithm->read_back != NULL && !experiment->counter_case->target_takes_tasks) {
        algorithm->read_back(&experiment->counter);
    }
}

/* One access, timed, for the loop of tasks. */
static double take_number(void *state, int64_t *number)
{
    struct experiment *experiment = state;
    const double taken_s = take_numbers(experiment, 1);
    *number = experiment->numbers[experiment->number_count - 1];
    read_back(experiment);
    return taken_s;
}

/* ---- The latency: one rank takes numbers in bursts while all others wait in MPI ---- */

static double make_burst(void *state, long long burst)
{
    return take_numbers(state, burst);
}

static void check_burst(void *state, long long burst)
{
    (void)burst;
    read_back(state);
}

static void take_latency(struct experiment *experiment)
{
    const struct options *asked = &experiment->launch->options;
    const bool is_read_back = experiment->counter.algorithm->read_back != NULL;
    const struct timing timing = {.launch = experiment->launch,
                                  .cell = experiment->cell,
                                  .record = experiment->record,
                                  .state = experiment,
                                  .again = experiment->again,
                                  .makes = experiment->launch->rank == LATENCY_RANK,
                                  .first = experiment->launch->rank == LATENCY_RANK,
                                  .answers = experiment->launch->rank == TARGET,
                                  .alone = true,
                                  .own_cores = true,
                                  /* only the element of the latest access can be read back */
                                  .longest =
                                      is_read_back ? 1 : options_integer(asked, "latency-burst"),
                                  .burst = make_burst,
                                  .check = check_burst};
    latency_take(&timing);
    CHECKED(MPI_Barrier(world_communicator));
}

/* Collective. */
static void verify(struct experiment *experiment)
{
    struct counter *counter = &experiment->counter;
    numbers_verify(experiment->launch, experiment->record, experiment->numbers,
                   experiment->number_count,
                   counter->rank == TARGET ? counter_final_value(counter) : 0);
    if (counter->own_element.checked > 0) {
        record_verification(experiment->record, counter->own_element);
    }
    if (counter->algorithm->sees_falls) {
        record_verification(experiment->record, verify_exact("falls", counter->falls, 0));
    }
}

static void stop_helper(struct experiment *experiment, struct helper *helper)
{
    watchdog_phase = "helper";
    const int gone = helper_stop(helper);
    int gone_in_all = 0;
    CHECKED(MPI_Allreduce(&gone, &gone_in_all, 1, MPI_INT, MPI_SUM, world_communicator));
    if (gone_in_all > 0) {
        record_status(experiment->record, CELL_HELPER_RETURNED,
                      "the helpers of %d of %d ranks returned before they were released",
                      gone_in_all, experiment->launch->ranks);
    }
}

/* All that happens in the open window: epochs, warm-up, tasks, latency. */
static void use_counter(struct experiment *experiment)
{
    struct launch *launch = experiment->launch;
    struct counter *counter = &experiment->counter;
    const int64_t warm_up = options_integer(&launch->options, "warm-up");
    const int64_t takers = launch->ranks - !experiment->counter_case->target_takes_tasks;
    watchdog_phase = "warm-up";
    if (experiment->takes_tasks) {
        counter->algorithm->begin(counter);
        for (long long i = 0; i < warm_up; i++) {
            take_numbers(experiment, 1);
            read_back(experiment);
        }
    }
    if (!experiment->again) {
        tasks_run(&(struct tasks){.launch = launch,
                                  .cell = experiment->cell,
                                  .record = experiment->record,
                                  .takes = experiment->takes_tasks,
                                  .first_task = warm_up * takers,
                                  .count = tasks_numbers(launch, experiment->cell, takers),
                                  .state = experiment,
                                  .take = take_number});
    }
    if (!experiment->counter_case->target_takes_tasks) {
        take_latency(experiment);
    }
    watchdog_phase = "end";
    if (experiment->takes_tasks) {
        counter->algorithm->end(counter);
    }
    CHECKED(MPI_Barrier(world_communicator));
}

static void run_supported(struct experiment *experiment)
{
    const struct helper_kind *helper_kind = experiment->counter_case->helper;
    struct helper helper;
    const double steal_s = machine_steal_s();
    watchdog_phase = "window";
    counter_open(&experiment->counter, experiment->launch, experiment->record,
                 cell_choice(experiment->cell, "flavor"));
    if (helper_kind != NULL) {
        watchdog_phase = "helper";
        experiment->record->helper_threads = 1;
        helper_start(&helper, helper_kind, world_communicator);
    }
    use_counter(experiment);
    if (helper_kind != NULL) {
        stop_helper(experiment, &helper);
    }
    verify(experiment);
    watchdog_phase = "window";
    counter_close(&experiment->counter);
    if (!experiment->again) {
        record_steal(experiment->launch, experiment->record, steal_s);
    }
}

static struct experiment experiment_of(struct launch *launch, const struct cell *cell,
                                       struct record *record)
{
    const struct counter_case *counter_case = cell_choice(cell, "case");
    const bool narrow = options_text(&launch->options, "counter-bytes")[0] == '4';
    return (struct experiment){.launch = launch,
                               .cell = cell,
                               .record = record,
                               .counter_case = counter_case,
                               .counter = {.algorithm = cell_choice(cell, "algorithm"),
                                           .type = narrow ? MPI_INT32_T : MPI_INT64_T,
                                           .element_bytes = narrow ? 4 : 8,
                                           .rank = launch->rank,
                                           .ranks = launch->ranks,
                                           .own_element.name = "own_element"},
                               .takes_tasks =
                                   counter_case->target_takes_tasks || launch->rank != TARGET};
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    struct experiment experiment = experiment_of(launch, cell, record);
    if (experiment.counter_case->helper != NULL &&
        !threads_may_call(launch, record, "a helper thread needs")) {
        return;
    }
    if (!window_is_supported(launch, cell_choice(cell, "flavor"), record)) {
        return;
    }
    run_supported(&experiment);
    free(experiment.numbers);
}

/* Take the latency again, with a new counter. */
static bool latency_again(struct launch *launch, const struct cell *cell, struct record *record)
{
    struct experiment experiment = experiment_of(launch, cell, record);
    experiment.again = true;
    if (!latency_was_taken(cell)) {
        return false;
    }
    run_supported(&experiment);
    free(experiment.numbers);
    return true;
}

KERNEL("shared_counter", "time to take a number from a shared counter while its target computes",
       .run_cell = run_cell, .run_again = latency_again, .passes = "latency-passes")
