/* What the files of the kernel `window_growth` share: a window that grows, and its content. */
#ifndef ONESIDED_GROWTH_H
#define ONESIDED_GROWTH_H

#include "harness/launch.h"
#include "mpi/checked.h"
#include "mpi/world.h"
#include "rma/window.h"

/* The timed parts of a growth. */
enum part { GROW, MAKE, COPY, FREE, EXCHANGE, DETACH, CLOSE, PARTS };

/* How a window grows: a row of the axis. */
struct method {
    const char *name;
    int flavor;       /* a place in `flavors` */
    bool owns_memory; /* the program allocates the memory; else the MPI call does */
    bool attaches;    /* attaches a buffer to a dynamic window; else makes a new window */
};

struct growth {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct method *method;
    MPI_Aint bytes;        /* of the window before the growth, which adds as many */
    struct window window;  /* before the growth, then after it */
    void *before, *more;   /* the program's own memory: the old, and the new or added memory */
    MPI_Aint *more_begins; /* by rank: the displacement of the new part */
    int64_t *sent;         /* to the neighbour's new part */
    uint64_t sample;       /* from 1 */
    double part_s[PARTS];  /* of this sample; NAN: the method has no such part */
    struct series *series[PARTS];
    struct verification old_part, new_part, at_origin;
};

/* Collective: false, with the reason in the record, if the cell cannot run. */
bool growth_is_supported(struct launch *launch, const struct cell *cell, struct record *record);

/* All ranks, untimed. Before a growth: open a window with new content, and allocate memory for the
 * growth. After it: every rank puts to its right neighbour's new part, and all elements of both
 * parts are compared. After the end of the window: free the program's own memory. */
void content_open(struct growth *growth);
void content_verify(struct growth *growth);
void content_close(struct growth *growth);

#endif
