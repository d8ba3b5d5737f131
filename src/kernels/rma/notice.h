/* A notice: a word in a rank's window by which another says that what it put before is there.
 *
 * Both ranks hold a lock_all on the window. The word is accessed by atomic operations of MPI alone,
 * by its own rank, too: they are the only accesses that may meet (MPI 4.1, 12.7). The rank that
 * waits makes a call of MPI at each look, so that it makes progress: the notice of a library that
 * delivers nothing by itself arrives, too. */
#ifndef ONESIDED_NOTICE_H
#define ONESIDED_NOTICE_H

#include <stdint.h>

#include "rma/window.h"

struct notice {
    MPI_Win window;
    int rank;              /* in whose part the word is */
    MPI_Aint displacement; /* of the word, eight bytes, at that rank: window->begins and more */
};

/* At another rank: everything that this rank put to that rank before is complete there, then the
 * word has this value. */
void notice_give(const struct notice *notice, uint64_t value);

/* At the word's rank: wait until it has the value, from 1, or a greater one: who gives notices may
 * be ahead. What was put before the notice can then be read, in an epoch of its own
 * (window_begin_own). */
void notice_await(const struct notice *notice, uint64_t value);

#endif
