/* A notice: a word in a rank's window by which another rank says that its puts have arrived.
 *
 * Both ranks hold a lock_all on the window. Only MPI's atomic operations access the word, also at
 * its own rank, because only these may happen at the same time (MPI 4.1, 12.7). The rank that waits
 * calls MPI at each look and so makes progress. Therefore the notice arrives even if the library
 * makes no progress by itself. */
#ifndef ONESIDED_NOTICE_H
#define ONESIDED_NOTICE_H

#include <stdint.h>

#include "rma/window.h"

struct notice {
    MPI_Win window;
    int rank;              /* the word is in this rank's part */
    MPI_Aint displacement; /* of the word of eight bytes: window->begins plus its place */
};

/* At another rank: complete this rank's earlier puts to that rank, then set the word to the
 * value. */
void notice_give(const struct notice *notice, uint64_t value);

/* At the word's rank: wait until the word has at least the value, which is 1 or more; the other
 * rank may already be ahead. The data put before the notice can then be read in an epoch of the
 * rank's own (window_begin_own). */
void notice_await(const struct notice *notice, uint64_t value);

#endif
