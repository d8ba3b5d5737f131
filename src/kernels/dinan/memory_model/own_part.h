/* The part of rank 0's window that it reads and writes itself, and that no other rank accesses. */
#ifndef ONESIDED_OWN_PART_H
#define ONESIDED_OWN_PART_H

#include <stdint.h>

#include "harness/compute.h"
#include "rma/window.h"

struct own_part {
    struct window *window;
    int lock_type; /* of its epochs, unless a lock_all is held */
    volatile int64_t *memory;
    int64_t passes; /* over all elements, since it was opened */
    double pass_s;  /* of one, with nobody else at work */
};

/* Of the window, behind all that other ranks access. */
MPI_Aint own_part_bytes(void);

/* At rank 0: give all elements their first value, and see what a pass takes. */
void own_part_open(struct own_part *part, struct window *window, int lock_type);

/* An epoch of so many loads and stores as take the length undisturbed. */
struct compute_sample own_part_access(struct own_part *part, double length_s);

/* Collective: rank 0 makes such epochs until all other ranks have called the second function, and
 * comes to MPI between them. It makes so many at most: a lock that it takes again and again could
 * keep the others from theirs for ever. */
struct own_epochs {
    long long count;
    double mean_s;
    bool is_cut; /* it made the most, and others still were not there */
};
struct own_epochs own_part_access_until(struct own_part *part, double length_s, long long most);
void own_part_end_epochs(void);

/* Has each element had each of its additions? `loses`: for tests, a store is lost before. */
struct verification own_part_check(struct own_part *part, bool loses);

#endif
