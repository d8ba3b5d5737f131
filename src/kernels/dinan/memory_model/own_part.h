/* The part of rank 0's window that only rank 0 itself reads and writes. */
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
    double pass_s;  /* of one pass, while the other ranks do nothing */
};

/* Its size; it lies behind all parts of the window that other ranks access. */
MPI_Aint own_part_bytes(void);

/* At rank 0: give all elements their first value, and measure the time of a pass. */
void own_part_open(struct own_part *part, struct window *window, int lock_type);

/* An epoch of as many loads and stores as take length_s if nothing disturbs them. */
struct compute_sample own_part_access(struct own_part *part, double length_s);

/* Collective: rank 0 makes such epochs until all other ranks have called own_part_end_epochs, and
 * calls MPI between epochs. It makes at most `most` epochs: otherwise, with a lock that rank 0
 * takes again and again, the others might never get their lock. */
struct own_epochs {
    long long count;
    double mean_s;
    bool is_cut; /* rank 0 made `most` epochs, and others had not ended yet */
};
struct own_epochs own_part_access_until(struct own_part *part, double length_s, long long most);
void own_part_end_epochs(void);

/* Does each element have all additions? `loses`: for tests, one store is undone first. */
struct verification own_part_check(struct own_part *part, bool loses);

#endif
