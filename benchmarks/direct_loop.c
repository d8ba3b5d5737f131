/* What does the harness add to a latency? Kernels make bursts by the loops of rma/operation.c.
 * These loops and the plainest loop that a person would write take turns, on the same window and
 * slots.
 *
 *   direct_loop PAIRS     under an MPI's launcher with two ranks
 *
 * Prints, for each pair, the operation and the seconds an operation by the kernel's loop and by the
 * direct one. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/clock.h"
#include "rma/operation.h"

#define TARGET 0
#define SLOTS 100
#define SLOT_BYTES 16

static MPI_Win window;
static int64_t payload[SLOTS], result[SLOTS], compared[SLOTS];

static void must(int code)
{
    if (code != MPI_SUCCESS) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

static void put(void)
{
    for (int i = 0; i < SLOTS; i++) {
        must(MPI_Put(&payload[i], 1, MPI_INT64_T, TARGET, i * SLOT_BYTES, 1, MPI_INT64_T, window));
        must(MPI_Win_flush(TARGET, window));
    }
}

static void get(void)
{
    for (int i = 0; i < SLOTS; i++) {
        must(MPI_Get(&result[i], 1, MPI_INT64_T, TARGET, i * SLOT_BYTES, 1, MPI_INT64_T, window));
        must(MPI_Win_flush(TARGET, window));
    }
}

static void fetch_and_op(void)
{
    for (int i = 0; i < SLOTS; i++) {
        must(MPI_Fetch_and_op(&payload[i], &result[i], MPI_INT64_T, TARGET, i * SLOT_BYTES, MPI_SUM,
                              window));
        must(MPI_Win_flush(TARGET, window));
    }
}

static void compare_and_swap(void)
{
    for (int i = 0; i < SLOTS; i++) {
        must(MPI_Compare_and_swap(&payload[i], &compared[i], &result[i], MPI_INT64_T, TARGET,
                                  i * SLOT_BYTES, window));
        must(MPI_Win_flush(TARGET, window));
    }
}

static const struct {
    const char *name;
    void (*direct)(void);
} loops[] = {{"put", put},
             {"get", get},
             {"fetch_and_op", fetch_and_op},
             {"compare_and_swap", compare_and_swap}};

static double direct_s(void (*direct)(void))
{
    const double begin_s = clock_now_s();
    direct();
    return (clock_now_s() - begin_s) / SLOTS;
}

static double kernel_s(const struct operation *operation, struct transfer *transfer)
{
    const struct access access = operation->access(transfer, SLOTS, false);
    return (access.completed_s - access.begin_s) / SLOTS;
}

static void compare(struct transfer *transfer, int pairs)
{
    const size_t count = (size_t)pairs;
    double *direct = calloc(count, sizeof(double));
    double *kernel = calloc(count, sizeof(double));
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        const struct operation *operation = operation_named(loops[i].name);
        for (int pair = 0; pair < pairs; pair++) {
            if (pair % 2 == 0) {
                direct[pair] = direct_s(loops[i].direct);
                kernel[pair] = kernel_s(operation, transfer);
            } else {
                kernel[pair] = kernel_s(operation, transfer);
                direct[pair] = direct_s(loops[i].direct);
            }
        }
        for (int pair = 0; pair < pairs; pair++) {
            printf("%s %.6g %.6g\n", loops[i].name, kernel[pair], direct[pair]);
        }
    }
    free(direct);
    free(kernel);
}

int main(int argument_count, char **arguments)
{
    const int pairs = argument_count > 1 ? atoi(arguments[1]) : 2001;
    int64_t *memory = NULL;
    int rank = 0;
    must(MPI_Init(&argument_count, &arguments));
    must(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    must(MPI_Win_allocate(rank == TARGET ? SLOTS * SLOT_BYTES : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                          &memory, &window));
    struct transfer transfer = {
        .epoch = {.synchronisation = synchronisation_named("lock_all_flush"),
                  .window = window,
                  .target = TARGET},
        .slot_bytes = SLOT_BYTES,
        .type = {.type = MPI_INT64_T, .count = 1},
        .elements = 1,
        .payload = payload,
        .result = result,
        .compared = compared};
    if (rank == 1) {
        must(MPI_Win_lock_all(0, window));
        compare(&transfer, pairs);
        must(MPI_Win_unlock_all(window));
    }
    must(MPI_Barrier(MPI_COMM_WORLD));
    must(MPI_Win_free(&window));
    must(MPI_Finalize());
    return EXIT_SUCCESS;
}
