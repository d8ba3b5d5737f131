/* Where the elements of a cell are, in a window and in the buffers of an origin. */
#ifndef ONESIDED_CONFORMANCE_PLACES_H
#define ONESIDED_CONFORMANCE_PLACES_H

#include "data/conformance/model.h"

/* The seed of this rank's bytes in a window, in this round. */
uint64_t seed_of(const struct plan *plan, int window);

/* This rank's part of a window, whose bytes are at `bytes`. */
struct memory part_of(const struct plan *plan, int window, unsigned char *bytes);

/* A buffer with a slot for each operation, and a margin before the first and after the last. */
struct memory buffer_of(const struct plan *plan, const char *name, unsigned char *bytes,
                        uint64_t seed);

#endif
