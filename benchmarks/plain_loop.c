/* The loops that peers.py compares, alone: no harness, no options, one page of C.
 *
 *   plain_loop theirs|ours OPERATION:BYTES:BURST:BURSTS ...     under a launcher with two ranks
 *
 * `theirs` repeats one message in an epoch of a shared lock, as IMB-RMA and OSU's do; its
 * compare_and_swap never finds the compared value, as in OSU's. `ours` is in an epoch of lock_all.
 * Each operation of a burst has its own message and place, with a gap of the same size after each
 * place. New messages are written before a burst. After the burst, the received values are compared
 * with a model of the target's memory; put values are read back first, with the gaps. If our kernel
 * takes as long as this loop, the harness adds nothing, and the messages are the difference. Rank 1
 * is the origin; rank 0 waits in a barrier.
 *
 * Prints for each operation its name, its bytes, and the mean time of the operation and its flush
 * in microseconds; `ours` also prints the median of all bursts' means. Exit code 1 if a received
 * value is wrong. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGET 0
#define ORIGIN 1
#define WARM_UP 3 /* bursts before the timed ones */
#define MESSAGES 1000
#define EARLIER_WINDOWS 4
#define EARLIER_OPERATIONS 400 /* in each of them, or more */
#define PAGE_BYTES 4096

/* A place and its gap are so many times as long as a message. */
#define STRIDE 2

/* Facts of the measured operation. */
static MPI_Win window;
static char name[32];
static int elements, burst, bursts;
static size_t count;     /* elements of all slots */
static size_t all_count; /* with the gaps; the gaps stay 0 */
static int64_t *memory, *payload, *result, *compared, *model, *copy;

/* Of all bursts, in seconds; `theirs` has no median. */
struct times {
    double mean, median;
};

static bool all_right = true;

static void must(int code)
{
    if (code != MPI_SUCCESS) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

static void operate(int slot)
{
    const size_t first = (size_t)slot * (size_t)elements;
    const MPI_Aint place = (MPI_Aint)(STRIDE * first * sizeof(int64_t));
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

/* The messages and comparisons of the harness. */
static int64_t value(uint64_t number, uint64_t i)
{
    uint64_t bits = number * 0x9E3779B97F4A7C15u + (i + 1) * 0xD1B54A32D192ED03u;
    bits = (bits ^ (bits >> 31)) * 0xBF58476D1CE4E5B9u;
    return (int64_t)(bits >> 34) + 1;
}

static bool is_model(const int64_t *found)
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        if (found[i] != model[i]) {
            wrong++;
        }
    }
    return wrong == 0;
}

static bool fetches(void)
{
    return strchr("gfc", name[0]) != NULL;
}

/* New messages. */
static void renew(int number)
{
    const bool is_fetched = fetches();
    for (size_t i = 0; i < count; i++) {
        payload[i] = value((uint64_t)number, i);
        if (is_fetched) {
            compared[i] = model[i];
            result[i] = -1;
        }
    }
}

/* The target's memory after the operations of a burst. */
static void advance(int number)
{
    const bool adds = name[0] == 'a' || name[0] == 'f', replaces = name[0] == 'p' || name[0] == 'c';
    for (size_t i = 0; i < count; i++) {
        const int64_t sent = value((uint64_t)number, i);
        model[i] = adds ? model[i] + sent : replaces ? sent : model[i];
    }
}

static bool target_has_model(void)
{
    size_t wrong = 0;
    const size_t slot = (size_t)elements;
    must(
        MPI_Get(copy, (int)all_count, MPI_INT64_T, TARGET, 0, (int)all_count, MPI_INT64_T, window));
    must(MPI_Win_flush(TARGET, window));
    for (size_t i = 0; i < count; i++) {
        const int64_t *there = copy + STRIDE * (i / slot) * slot + i % slot;
        wrong += there[0] != model[i] || there[slot] != 0;
    }
    return wrong == 0;
}

/* The least time from the end of a burst to the next new messages: as long as the harness takes for
 * its checks. A pause makes a large put slower, whatever happens in the pause. */
static double before_new_messages_s(void)
{
    return 1e-9 * (double)count * (name[0] == 'p' ? 12 : name[0] == 'a' ? 2.5 : 3.5);
}

static void *allocated(void *found)
{
    if (found == NULL) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return found;
}

static int compare_times(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static struct times of_bursts(double *s)
{
    struct times times = {.mean = 0};
    qsort(s, (size_t)bursts, sizeof s[0], compare_times);
    for (int i = 0; i < bursts; i++) {
        times.mean += s[i] / bursts;
    }
    times.median = (s[(bursts - 1) / 2] + s[bursts / 2]) / 2;
    return times;
}

/* Says, too, whether a received value is wrong. */
static struct times time_new_messages(void)
{
    bool right = true;
    double *s = allocated(calloc((size_t)bursts, sizeof *s)), end_s = 0;
    for (int number = 0; number < WARM_UP + bursts; number++) {
        /* as in the harness, the messages are written right before they are sent: a large message
         * that was written a millisecond before takes longer */
        while (MPI_Wtime() - end_s < before_new_messages_s()) {
        }
        renew(number);
        const double begin_s = MPI_Wtime();
        for (int i = 0; i < burst; i++) {
            operate(i);
        }
        end_s = MPI_Wtime();
        if (number >= WARM_UP) {
            s[number - WARM_UP] = end_s - begin_s;
        }
        right = right && (!fetches() || is_model(result));
        advance(number);
        right = right && (name[0] != 'p' || target_has_model());
    }
    right = right && (name[0] != 'a' || target_has_model());
    if (!right) {
        fprintf(stderr, "plain_loop: %s: what arrived is wrong\n", name);
        all_right = false;
    }
    const struct times times = of_bursts(s);
    free(s);
    return times;
}

static struct times time_one_message(void)
{
    compared[0] = -1;
    for (int i = 0; i < WARM_UP * burst; i++) {
        operate(0);
    }
    const double begin_s = MPI_Wtime();
    for (int i = 0; i < burst * bursts; i++) {
        operate(0);
    }
    return (struct times){.mean = (MPI_Wtime() - begin_s) / bursts};
}

/* Memory for all slots, on its own pages as in the harness, and zero. */
static void *pages(void)
{
    const size_t bytes = (all_count * sizeof *memory / PAGE_BYTES + 1) * PAGE_BYTES;
    return memset(allocated(aligned_alloc(PAGE_BYTES, bytes)), 0, bytes);
}

/* Returns the times at the origin. */
static struct times measure(bool as_ours, int rank)
{
    struct times times = {.mean = 0};
    count = (size_t)burst * (size_t)elements;
    all_count = STRIDE * count;
    int64_t **const parts[] = {&memory, &payload, &result, &compared, &model, &copy};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        *parts[i] = pages();
    }
    must(MPI_Win_create(memory, (MPI_Aint)(all_count * sizeof *memory), 1, MPI_INFO_NULL,
                        MPI_COMM_WORLD, &window));
    if (rank == ORIGIN) {
        must(as_ours ? MPI_Win_lock_all(0, window)
                     : MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, window));
        times = as_ours ? time_new_messages() : time_one_message();
        must(as_ours ? MPI_Win_unlock_all(window) : MPI_Win_unlock(TARGET, window));
    }
    must(MPI_Barrier(MPI_COMM_WORLD));
    must(MPI_Win_free(&window));
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        free(*parts[i]);
    }
    return times;
}

/* Between the ranks, before anything is timed: Intel MPI takes longer for the first 500. */
static void exchange_messages(int rank)
{
    for (int sent = 0, received; sent < MESSAGES; sent++) {
        must(MPI_Sendrecv(&sent, 1, MPI_INT, !rank, 0, &received, 1, MPI_INT, !rank, 0,
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

/* Likewise: MPICH takes longer in the first three windows of a launch. */
static void use_windows(bool as_ours, int rank)
{
    bursts = (EARLIER_OPERATIONS + burst - 1) / burst;
    for (int i = 0; i < EARLIER_WINDOWS; i++) {
        measure(as_ours, rank);
    }
}

static void read_operation(const char *text)
{
    int bytes;
    if (sscanf(text, "%31[a-z_]:%d:%d:%d", name, &bytes, &burst, &bursts) != 4) {
        fprintf(stderr, "plain_loop: found %s; expected OPERATION:BYTES:BURST:BURSTS\n", text);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    elements = bytes / 8;
}

int main(int argc, char **argv)
{
    int rank;
    must(MPI_Init(&argc, &argv));
    must(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    const bool as_ours = argv[1][0] == 'o';
    exchange_messages(rank);
    read_operation(argv[2]);
    use_windows(as_ours, rank);
    for (int i = 2; i < argc; i++) {
        read_operation(argv[i]);
        const struct times times = measure(as_ours, rank);
        if (rank == ORIGIN) {
            printf("%s %d %.6f", name, elements * 8, 1e6 * times.mean / burst);
            if (as_ours) {
                printf(" %.6f", 1e6 * times.median / burst);
            }
            printf("\n");
        }
    }
    must(MPI_Finalize());
    return all_right ? 0 : 1;
}
