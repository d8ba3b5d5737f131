/* Matrix and vector: a product by tasks with threads. Are more tasks better, or more threads?
 *
 * Source: Marcelo Barrios, Stefan Andersson, Gyan Bhanot, John Hague, Frank Johnston, Swamy
 * Kandadai, David Klepacki, John Levesque, Jarek Nieplocha, Frank O'Connell, Farid Parpia,
 * Christoph Pospiech, Richard Treumann, Jim Tuccillo, Bob Walkup, "Scientific Applications in
 * RS/6000 SP Environments" (IBM, SG24-5611-00, 1999), section 5.2, Tables 25 and 26. The columns of
 * the matrix are distributed over the tasks. Each task multiplies its columns by its elements of
 * the vector, and adds the products to a vector of full length, in Fortran's order.
 * MPI_Reduce_scatter then adds the vectors of all tasks, and gives each task its part. The threads
 * of a task share its rows (the source's first example), or its columns (the second example). In
 * both examples each thread has a sum of its own, and the sums are added under a lock. In Figure 41
 * the threads of the first example begin and end their work at each column, and need no sums of
 * their own; this is a further variant here. Section 4.2.3, Figures 31 and 33: a master creates N
 * threads and waits, or creates N - 1 and works, too.
 *
 * Timed, in seconds: the whole, and MPI_Reduce_scatter_block, with the wait for the slowest task.
 * Verified: every bit of the result (product.h says why that is possible). */
#include <mpi.h>
#include <string.h>

#include "harness/watchdog.h"
#include "mpi/checked.h"
#include "mpi/trial.h"
#include "mpi/world.h"
#include "redbook/matrix_vector/product.h"

#define ORDER_MAX 16384

/* ---- THE TIMED LOOPS ---- */

/* Add a column times a number, from row `begin` on. */
static inline void add_column(const struct product *product, int column, int begin, int end,
                              double *restrict sum)
{
    const double *restrict element = product->matrix + (size_t)column * (size_t)product->order;
    const double factor = product->vector[column];
    for (int i = begin; i < end; i++) {
        sum[i] += element[i] * factor;
    }
}

static void add_to_sum(struct product *product, const double *restrict own)
{
    double *restrict sum = product->sum;
    pthread_mutex_lock(&product->lock);
    for (int i = 0; i < product->order; i++) {
        sum[i] += own[i];
    }
    pthread_mutex_unlock(&product->lock);
}

static void add_rows(void *state, int number)
{
    struct product *product = state;
    double *own = product->sums[number];
    const int begin = share_begin(product, product->order, number);
    const int end = share_begin(product, product->order, number + 1);
    memset(own, 0, (size_t)product->order * sizeof own[0]);
    for (int j = 0; j < product->columns; j++) {
        add_column(product, j, begin, end, own);
    }
    add_to_sum(product, own);
}

static void add_columns(void *state, int number)
{
    struct product *product = state;
    double *own = product->sums[number];
    const int end = share_begin(product, product->columns, number + 1);
    memset(own, 0, (size_t)product->order * sizeof own[0]);
    for (int j = share_begin(product, product->columns, number); j < end; j++) {
        add_column(product, j, 0, product->order, own);
    }
    add_to_sum(product, own);
}

static void add_rows_of_column(void *state, int number)
{
    struct product *product = state;
    add_column(product, product->column, share_begin(product, product->order, number),
               share_begin(product, product->order, number + 1), product->sum);
}

/* ---- All threads of a task ---- */

static void at_once(struct product *product)
{
    product->team.task = product->variant->task;
    team_run(&product->team);
}

static void column_by_column(struct product *product)
{
    product->team.task = product->variant->task;
    for (product->column = 0; product->column < product->columns; product->column++) {
        team_run(&product->team);
    }
}

static void *created_main(void *argument)
{
    struct member *member = argument;
    struct product *product = member->team->state;
    product->variant->task(product, member->number);
    return NULL;
}

/* Create all threads but the first `own`; the master does the work of these, then waits. */
static void create_and_join(struct product *product, int own)
{
    struct team *team = &product->team;
    struct member members[TEAM_MAX];
    for (int number = own; number < team->count; number++) {
        members[number] = (struct member){.team = team, .number = number};
        members[number].thread = team_start(created_main, &members[number]);
    }
    for (int number = 0; number < own; number++) {
        product->variant->task(product, number);
    }
    for (int number = own; number < team->count; number++) {
        pthread_join(members[number].thread, NULL);
    }
}

static void with_working_master(struct product *product)
{
    create_and_join(product, 1);
}

static void with_lazy_master(struct product *product)
{
    create_and_join(product, 0);
}

static const struct variant variants[] = {
    {"rows", false, add_rows, at_once, false},
    {"columns", true, add_columns, at_once, false},
    {"rows_forked", false, add_rows_of_column, column_by_column, false},
    {"columns_created", true, add_columns, with_working_master, true},
    {"columns_lazy", true, add_columns, with_lazy_master, true},
};

static const struct axis axes[] = {
    CHOICE_AXIS(
        "variant",
        "what the threads of a task share: rows, columns, or rows of one column at a time; "
        "columns, with threads that are created for each product by a master that works, too, "
        "or that only waits",
        "rows,columns,rows_forked", variants),
    INTEGER_AXIS("threads", "of a task; its main thread communicates", "1", 1, TEAM_MAX),
    INTEGER_AXIS("order", "of the matrix: a multiple of the tasks", "96,480", 1, ORDER_MAX),
};

static const struct option options[] = {TRIAL_OPTIONS("1", "20", "0.1")};

static void prepare(void *state, long long burst)
{
    (void)burst;
    product_fill(state);
}

static double go(void *state, long long burst)
{
    struct product *product = state;
    (void)burst;
    const double begin_s = clock_now_s();
    memset(product->sum, 0, (size_t)product->order * sizeof product->sum[0]);
    product->variant->accumulate(product);
    const double reduce_scatter_s = clock_now_s();
    CHECKED(MPI_Reduce_scatter_block(product->sum, product->result, product->columns, MPI_DOUBLE,
                                     MPI_SUM, world_communicator));
    const double end_s = clock_now_s();
    product->total_s = end_s - begin_s;
    product->reduce_scatter_s = end_s - reduce_scatter_s;
    return product->total_s;
}

static void check(void *state, long long burst)
{
    (void)burst;
    product_compare(state);
}

static void keep(void *state, long long burst)
{
    struct product *product = state;
    series_keep(product->record, &product->total, "total", "s", burst, product->total_s);
    series_keep(product->record, &product->reduce_scatter, "reduce_scatter", "s", burst,
                product->reduce_scatter_s);
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const int order = (int)cell_number(cell, "order"), threads = (int)cell_number(cell, "threads");
    const int columns = order / launch->ranks;
    const struct variant *variant = cell_choice(cell, "variant");
    struct product product = {.launch = launch,
                              .cell = cell,
                              .record = record,
                              .variant = variant,
                              .order = order,
                              .columns = columns,
                              .first = launch->rank * columns,
                              .team = {.count = threads, .sleeps = variant->creates},
                              .found = {.name = "product"}};
    if (order % launch->ranks != 0) {
        record_status(record, CELL_UNSUPPORTED, "order is %d, no multiple of %d tasks", order,
                      launch->ranks);
    } else if (team_is_supported(launch, record, threads, THREAD_FUNNELED)) {
        record->helper_threads = threads - 1;
        product_open(&product);
        trial_run(&(struct trial){.launch = launch,
                                  .cell = cell,
                                  .record = record,
                                  .state = &product,
                                  .longest = 1,
                                  .prepare = prepare,
                                  .go = go,
                                  .check = check,
                                  .keep = keep});
        record_verification(record, product.found);
        product_close(&product);
    }
}

KERNEL("matrix_vector", "time of a product of matrix and vector by tasks of several threads",
       .run_cell = run_cell, .runs_alone = true)
