/* A word of eight bytes in a rank's part of a window, accessed only by MPI's atomic operations.
 *
 * The calling rank holds a lock_all on the window, but no lock for a function that itself takes a
 * shared lock. When a function returns, the found value is here, and the operation is complete at
 * the word's rank. With a request, only the found value is certain. */
#ifndef ONESIDED_WORD_H
#define ONESIDED_WORD_H

#include <mpi.h>
#include <stdint.h>

struct word {
    MPI_Win window;
    int rank;
    MPI_Aint displacement;
};

/* The value before the operation: MPI_NO_OP reads the word, MPI_REPLACE writes it. By a request:
 * MPI_Rget_accumulate and MPI_Wait, with no flush. */
int64_t word_fetch(struct word word, MPI_Op operation, int64_t operand);
int64_t word_fetch_by_request(struct word word, MPI_Op operation, int64_t operand);
int64_t word_compare_and_swap(struct word word, int64_t expected, int64_t desired);

/* The same in a shared lock of its own. */
int64_t word_fetch_in_lock(struct word word, MPI_Op operation, int64_t operand);
int64_t word_compare_and_swap_in_lock(struct word word, int64_t expected, int64_t desired);

/* Wait until a word has another value than `value`, and return the new value. */
typedef int64_t word_fetching(struct word word, MPI_Op operation, int64_t operand);
int64_t word_await_change(struct word word, int64_t value);
int64_t word_await_change_by(word_fetching *fetching, struct word word, int64_t value);

#endif
