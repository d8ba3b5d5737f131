/* Atomic operations on a word that two processes share. */
#include <mpi.h>

#include "machine/baseline/baseline.h"
#include "mpi/checked.h"
#include "mpi/world.h"

#define UNWATCHED 16 /* the partner's operations between two looks at `over` */

void add(struct experiment *experiment, int64_t repeat)
{
    _Atomic int64_t *const word = &experiment->page->word;
    for (int64_t i = 0; i < repeat; i++) {
        experiment->seen = atomic_fetch_add(word, 1);
    }
    experiment->changed += repeat;
}

/* Each attempt expects the value that the last attempt found, so it fails if another rank came
 * first. */
void compare_and_swap(struct experiment *experiment, int64_t repeat)
{
    _Atomic int64_t *const word = &experiment->page->word;
    int64_t expected = experiment->seen;
    int64_t changed = 0;
    for (int64_t i = 0; i < repeat; i++) {
        if (atomic_compare_exchange_strong(word, &expected, expected + 1)) {
            expected++;
            changed++;
        }
    }
    experiment->seen = expected;
    experiment->changed += changed;
}

static void look_at_word(struct experiment *experiment)
{
    if (miscounts_now(experiment)) {
        atomic_fetch_add(&experiment->page->word, 1);
    }
    experiment->seen = atomic_load(&experiment->page->word);
}

/* The partner of a contended baseline: repeats the operation until the origin's burst is over. */
void compete(struct experiment *experiment)
{
    experiment->changed = 0;
    experiment->seen = atomic_load(&experiment->page->word);
    while (atomic_load_explicit(&experiment->page->over, memory_order_relaxed) !=
           experiment->sample) {
        experiment->baseline->repeat(experiment, UNWATCHED);
    }
    experiment->done += experiment->changed;
}

static void verify_sum(struct experiment *experiment)
{
    int64_t sum = 0;
    CHECKED(
        MPI_Reduce(&experiment->done, &sum, 1, MPI_INT64_T, MPI_SUM, PARTNER, world_communicator));
    if (experiment->launch->rank == PARTNER) {
        record_verification(experiment->record,
                            verify_exact("sum", atomic_load(&experiment->page->word), sum));
    }
}

/* The number of changes of the word by the other rank. */
static int64_t others_done(const struct experiment *experiment)
{
    return atomic_load(&experiment->page->word) - experiment->changed;
}

const struct baseline_kind atomic_operations = {
    .prepare = look_at_word, .verify = verify_sum, .others_done = others_done};
