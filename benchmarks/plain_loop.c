/* The loops that peers.py compares, by themselves: no harness, no options, one page of C.
 *
 *   plain_loop theirs|ours OPERATION:BYTES:BURST:BURSTS ...     under a launcher with two ranks
 *
 * `theirs` repeats one message in an epoch of a shared lock, as IMB-RMA and OSU's do. `ours` is in
 * an epoch of lock_all; each operation of a burst has a message and a place of its own, new ones
 * are written before a burst, and what arrived is compared after it: a put by reading it back.
 * Where ours takes as long as this loop, the harness adds nothing, and the messages are the
 * difference. Rank 1 is the origin; rank 0 waits in a barrier.
 *
 * Prints for each operation its name, its bytes, and the mean time of it and its flush in
 * microseconds. Exit code 1 if anything that arrived is wrong. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGET 0
#define ORIGIN 1
#define WARM_UP 3 /* bursts before the timed ones */

/* Of the operation that is measured. */
static MPI_Win window;
static char name[32];
static int elements, burst, bursts;
static size_t count; /* elements of all slots */
static int64_t *memory, *payload, *result, *compared;

static void must(int code)
{
    if (code != MPI_SUCCESS) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

static void operate(int slot)
{
    const size_t first = (size_t)slot * (size_t)elements;
    const MPI_Aint place = (MPI_Aint)(first * sizeof(int64_t));
    int64_t *own = payload + first, *got = result + first;
    if (name[0] == 'p') {
        must(MPI_Put(own, elements, MPI_INT64_T, TARGET, place, elements, MPI_INT64_T, window));
    } else if (name[0] == 'g') {
        must(MPI_Get(got, elements, MPI_INT64_T, TARGET, place, elements, MPI_INT64_T, window));
    } else if (name[0] == 'a') {
        must(MPI_Accumulate(own, elements, MPI_INT64_T, TARGET, place, elements, MPI_INT64_T,
                            MPI_SUM, window));
    } else if (name[0] == 'f') {
        must(MPI_Fetch_and_op(own, got, MPI_INT64_T, TARGET, place, MPI_SUM, window));
    } else {
        must(MPI_Compare_and_swap(own, compared + first, got, MPI_INT64_T, TARGET, place, window));
    }
    must(MPI_Win_flush(TARGET, window));
}

/* New messages. What a swap compares with is what the one before has left. */
static void renew(int number)
{
    for (size_t i = 0; i < count; i++) {
        compared[i] = number == 0 ? 0 : payload[i];
        payload[i] = (int64_t)number * 1000003 + (int64_t)i + 1;
        result[i] = -1;
    }
}

static bool target_has(const int64_t *expected)
{
    must(MPI_Get(result, (int)count, MPI_INT64_T, TARGET, 0, (int)count, MPI_INT64_T, window));
    must(MPI_Win_flush(TARGET, window));
    return memcmp(result, expected, count * sizeof *result) == 0;
}

/* What has arrived: what was put, what was got, what a swap or a sum has found. */
static bool is_right(const int64_t *sums)
{
    if (name[0] == 'p') {
        return target_has(payload);
    }
    if (name[0] == 'a') {
        return true; /* after all bursts */
    }
    const int64_t *expected = name[0] == 'c' ? compared : sums;
    return memcmp(result, expected, count * sizeof *result) == 0;
}

/* Returns seconds; false in `right` stays. */
static double time_new_messages(bool *right)
{
    int64_t *sums = calloc(count, sizeof *sums);
    double timed_s = 0;
    for (int number = 0; number < WARM_UP + bursts; number++) {
        renew(number);
        const double begin_s = MPI_Wtime();
        for (int i = 0; i < burst; i++) {
            operate(i);
        }
        timed_s += number < WARM_UP ? 0 : MPI_Wtime() - begin_s;
        *right = is_right(sums) && *right;
        for (size_t i = 0; i < count; i++) {
            sums[i] += name[0] == 'f' || name[0] == 'a' ? payload[i] : 0;
        }
    }
    if (name[0] == 'a') {
        *right = target_has(sums) && *right;
    }
    free(sums);
    return timed_s;
}

static double time_one_message(void)
{
    for (int i = 0; i < WARM_UP * burst; i++) {
        operate(0);
    }
    const double begin_s = MPI_Wtime();
    for (int i = 0; i < burst * bursts; i++) {
        operate(0);
    }
    return MPI_Wtime() - begin_s;
}

static bool measure(bool as_ours, int rank)
{
    bool right = true;
    count = (size_t)burst * (size_t)elements;
    memory = calloc(count, sizeof *memory);
    payload = calloc(count, sizeof *payload);
    result = calloc(count, sizeof *result);
    compared = calloc(count, sizeof *compared);
    must(MPI_Win_create(memory, (MPI_Aint)(count * sizeof *memory), 1, MPI_INFO_NULL,
                        MPI_COMM_WORLD, &window));
    if (rank == ORIGIN) {
        must(as_ours ? MPI_Win_lock_all(0, window)
                     : MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, window));
        const double s = as_ours ? time_new_messages(&right) : time_one_message();
        must(as_ours ? MPI_Win_unlock_all(window) : MPI_Win_unlock(TARGET, window));
        printf("%s %d %.6f\n", name, elements * 8, 1e6 * s / burst / bursts);
    }
    must(MPI_Barrier(MPI_COMM_WORLD));
    must(MPI_Win_free(&window));
    free(memory);
    free(payload);
    free(result);
    free(compared);
    return right;
}

int main(int argc, char **argv)
{
    int rank, bytes;
    bool right = true;
    must(MPI_Init(&argc, &argv));
    must(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    for (int i = 2; i < argc; i++) {
        if (sscanf(argv[i], "%31[a-z_]:%d:%d:%d", name, &bytes, &burst, &bursts) != 4) {
            fprintf(stderr, "plain_loop: found %s; expected OPERATION:BYTES:BURST:BURSTS\n",
                    argv[i]);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
        elements = bytes / 8;
        if (!measure(argv[1][0] == 'o', rank)) {
            fprintf(stderr, "plain_loop: %s: what arrived is wrong\n", argv[i]);
            right = false;
        }
    }
    must(MPI_Finalize());
    return right ? 0 : 1;
}
