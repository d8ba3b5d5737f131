/* The plan of a cell: what is called, with which values, and where everything is. */
#ifndef ONESIDED_CONFORMANCE_PLAN_H
#define ONESIDED_CONFORMANCE_PLAN_H

#include "data/conformance/shape.h"
#include "harness/launch.h"
#include "rma/synchronisation.h"
#include "rma/window.h"

#define WINDOWS_MAX 8
#define MARGIN_BYTES 64 /* of a roomy window, before and after the accessed bytes */

enum role { FIRST, LAST, SELF };
enum overlap { APART, SAME, ALL_RANKS };

struct call;

/* A row of an axis that is a number with a name. */
struct named {
    const char *name;
    int value;
};

/* Elements in memory: so many items of a layout, which begin in a slot. */
struct placed {
    const struct shape *shape;
    struct typemap map;
    long long count; /* items */
    MPI_Aint shift;  /* bytes from the slot's begin to displacement 0: no place is negative */
    MPI_Aint bytes;  /* from the slot's begin to the end of the last element */
    MPI_Aint slot;   /* from a slot to the next */
    bool is_absolute;
};

struct plan {
    const struct launch *launch;
    const struct cell *cell;
    const struct call *call;
    const struct reduction *reduction; /* NULL: the call has none */
    const struct element *element;
    const struct flavor *flavor;
    const struct synchronisation *synchronisation;
    struct drawn drawn[2];
    struct placed origin, target; /* `origin` is also for the result */
    long long elements;           /* of an operation */
    int outstanding;
    enum overlap overlap;
    int origin_rank, target_rank;
    bool has_memory; /* this rank */
    bool is_exact;   /* windows and buffers end where the accessed bytes end */
    int windows;
    bool frees_backwards;
    bool frees_types; /* before the operations are complete */
    uint64_t seed;
    int round;
};

/* Read a cell; false on all ranks, with the reason in the record, if MPI forbids it. */
bool plan_read(struct plan *plan, const struct launch *launch, const struct cell *cell,
               struct record *record);
void plan_free(struct plan *plan);

bool is_origin(const struct plan *plan, int rank);
long long target_slots(const struct plan *plan);
MPI_Aint window_bytes(const struct plan *plan);
MPI_Aint window_lead(const struct plan *plan); /* bytes before the first slot */
MPI_Aint buffer_bytes(const struct plan *plan);

/* The byte of an element, counted from the first slot. */
MPI_Aint placed_at(const struct placed *placed, long long slot, long long element);

#endif
