/* All other ranks write to rank 0: windows, payloads, and accesses that meet it while it computes.
 *
 * Each rank but rank 0 has a region of rank 0's window, with a slot for each operation of a burst
 * (rma/payload.h); or all add to one, or the last rank has none. What a slot must hold is known at
 * both sides, and is compared after each burst. A kernel's own struct begins with a struct writes:
 * its functions get that. */
#ifndef ONESIDED_WRITES_H
#define ONESIDED_WRITES_H

#include "harness/launch.h"
#include "mpi/checked.h"
#include "mpi/trial.h"
#include "rma/payload.h"
#include "rma/window.h"

#define TARGET 0

struct writes {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct flavor *flavor;       /* of the cell; shared where that has no meaning */
    double size_bytes;                 /* of a write */
    int elements;                      /* of it, eight bytes each */
    int slots;                         /* writes of a burst, at most */
    const struct operation *operation; /* what becomes of the elements; a put */
    const struct layout *layout;       /* NULL: a slot's elements are side by side */
    bool is_common;                    /* all add to one region */
    int origins;                       /* ranks from 1 that write; all but rank 0 */
    MPI_Info info;                     /* of the window */
    MPI_Aint more_bytes;               /* of rank 0's part, behind all regions */
    MPI_Aint own_bytes;                /* of the others' parts */
    bool holds_lock_all;               /* all ranks, as long as the window is open */
    /* NULL, or at the others after a burst: what it has fetched, before the payload is advanced */
    void (*compare)(struct writes *writes, long long burst);
    struct window window; /* this and what follows: once it is open */
    struct payload payload;
    struct transfer transfer; /* at the others: from their memory to their region */
    int64_t *shared;          /* at the others, of a shared window: their region, or the first */
};

/* Rows of a kernel's axes and options. `with_`: the idioms that are no loads and stores; these need
 * a shared window. */
#define FLAVOR_OF_IDIOM_AXIS(with_) FLAVOR_ONLY_WITH_AXIS("allocate", "idiom=" with_)
#define WRITE_BYTES_AXIS(fallback_)                                                                \
    {.name = "size_bytes",                                                                         \
     .help = "size of a write, a multiple of 8",                                                   \
     .kind = AXIS_INTEGER,                                                                         \
     .fallback = (fallback_),                                                                      \
     .minimum = 8,                                                                                 \
     .maximum = 1 << 24}

/* What the cell's axes say; without an axis of sizes, of so many elements. */
struct writes writes_of(struct launch *launch, const struct cell *cell, struct record *record);
struct writes writes_of_elements(struct launch *launch, const struct cell *cell,
                                 struct record *record, double elements);

/* Collective: open the window, or leave the reason in the record and return false on all ranks. */
bool writes_open(struct writes *writes);
void writes_close(struct writes *writes);

/* Collective: has the window the memory model MPI_WIN_UNIFIED? The record says so if it has not. */
bool is_unified(const struct writes *writes);

/* The trial of a cell: new payloads before a burst, and what has become of them after it. `time` is
 * the series of an operation; `computes`: rank 0 does. */
struct trial writes_trial(struct writes *writes, double (*go)(void *state, long long burst),
                          const char *time, bool computes);

/* Leave in the record what was compared. */
void writes_record(const struct writes *writes);

/* ---- For the timed loops, of which they become a part ---- */

/* What a call accesses in a slot: here, and at rank 0. */
#define SLOT_HERE(part)                                                                            \
    writes->transfer.part + slot * writes->elements, writes->elements, MPI_INT64_T
#define SLOT_THERE                                                                                 \
    TARGET, writes->transfer.displacement + slot * writes->transfer.slot_bytes, writes->elements,  \
        MPI_INT64_T

INLINE void put_slot(const struct writes *writes, long long slot)
{
    CHECKED(MPI_Put(SLOT_HERE(payload), SLOT_THERE, writes->window.handle));
}

INLINE void rput_slot(const struct writes *writes, long long slot)
{
    MPI_Request request;
    CHECKED(MPI_Rput(SLOT_HERE(payload), SLOT_THERE, writes->window.handle, &request));
    CHECKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

INLINE void get_slot(const struct writes *writes, long long slot)
{
    CHECKED(MPI_Get(SLOT_HERE(result), SLOT_THERE, writes->window.handle));
}

INLINE void rget_slot(const struct writes *writes, long long slot)
{
    MPI_Request request;
    CHECKED(MPI_Rget(SLOT_HERE(result), SLOT_THERE, writes->window.handle, &request));
    CHECKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* A put, and a get, that are atomic in each element and ordered among each other. */
INLINE void replace_slot(const struct writes *writes, long long slot)
{
    CHECKED(MPI_Accumulate(SLOT_HERE(payload), SLOT_THERE, MPI_REPLACE, writes->window.handle));
}

INLINE void fetch_slot(const struct writes *writes, long long slot)
{
    CHECKED(MPI_Get_accumulate(NULL, 0, MPI_INT64_T, SLOT_HERE(result), SLOT_THERE, MPI_NO_OP,
                               writes->window.handle));
}

INLINE void store_slot(const struct writes *writes, long long slot)
{
    const int64_t *payload = writes->transfer.payload + slot * writes->elements;
    volatile int64_t *place = writes->shared + slot * writes->elements;
    for (int i = 0; i < writes->elements; i++) {
        place[i] = payload[i];
    }
}

INLINE void load_slot(const struct writes *writes, long long slot)
{
    const volatile int64_t *place = writes->shared + slot * writes->elements;
    int64_t *result = writes->transfer.result + slot * writes->elements;
    for (int i = 0; i < writes->elements; i++) {
        result[i] = place[i];
    }
}

#endif
