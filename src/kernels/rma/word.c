/* A word of eight bytes in a rank's part of a window, accessed only by MPI's atomic operations. */
#include "rma/word.h"

#include <sched.h>

#include "mpi/checked.h"

#define LOOKS 1000 /* at a word before the core is offered to another rank */

/* The call uses `operand` and `found` until the operation is complete. */
static void fetch(struct word word, MPI_Op operation, const int64_t *operand, int64_t *found)
{
    CHECKED(MPI_Fetch_and_op(operand, found, MPI_INT64_T, word.rank, word.displacement, operation,
                             word.window));
}

static void compare_and_swap(struct word word, const int64_t *expected, const int64_t *desired,
                             int64_t *found)
{
    CHECKED(MPI_Compare_and_swap(desired, expected, found, MPI_INT64_T, word.rank,
                                 word.displacement, word.window));
}

int64_t word_fetch(struct word word, MPI_Op operation, int64_t operand)
{
    int64_t found = 0;
    fetch(word, operation, &operand, &found);
    CHECKED(MPI_Win_flush(word.rank, word.window));
    return found;
}

int64_t word_fetch_by_request(struct word word, MPI_Op operation, int64_t operand)
{
    int64_t found = 0;
    MPI_Request request;
    CHECKED(MPI_Rget_accumulate(&operand, 1, MPI_INT64_T, &found, 1, MPI_INT64_T, word.rank,
                                word.displacement, 1, MPI_INT64_T, operation, word.window,
                                &request));
    CHECKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return found;
}

int64_t word_compare_and_swap(struct word word, int64_t expected, int64_t desired)
{
    int64_t found = 0;
    compare_and_swap(word, &expected, &desired, &found);
    CHECKED(MPI_Win_flush(word.rank, word.window));
    return found;
}

int64_t word_fetch_in_lock(struct word word, MPI_Op operation, int64_t operand)
{
    int64_t found = 0;
    CHECKED(MPI_Win_lock(MPI_LOCK_SHARED, word.rank, 0, word.window));
    fetch(word, operation, &operand, &found);
    CHECKED(MPI_Win_unlock(word.rank, word.window));
    return found;
}

int64_t word_compare_and_swap_in_lock(struct word word, int64_t expected, int64_t desired)
{
    int64_t found = 0;
    CHECKED(MPI_Win_lock(MPI_LOCK_SHARED, word.rank, 0, word.window));
    compare_and_swap(word, &expected, &desired, &found);
    CHECKED(MPI_Win_unlock(word.rank, word.window));
    return found;
}

int64_t word_await_change(struct word word, int64_t value)
{
    return word_await_change_by(word_fetch, word, value);
}

int64_t word_await_change_by(word_fetching *fetching, struct word word, int64_t value)
{
    int64_t found = value;
    for (long looks = 1; found == value; looks++) {
        found = fetching(word, MPI_NO_OP, 0);
        if (looks % LOOKS == 0) {
            sched_yield();
        }
    }
    return found;
}
