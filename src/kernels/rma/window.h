/* Windows of four flavors, usable by any kernel. Displacements are in bytes. */
#ifndef ONESIDED_WINDOW_H
#define ONESIDED_WINDOW_H

#include <mpi.h>
#include <stdbool.h>

#include "harness/launch.h"

struct flavor;

struct window {
    const struct flavor *flavor;
    MPI_Win handle;
    MPI_Info info;       /* of its creation */
    void *memory;        /* this rank's part */
    MPI_Aint size_bytes; /* of it */
    MPI_Aint *begins;    /* by rank: the displacement of its first byte; an address in a dynamic
                            window, else 0 */
    int rank;            /* this rank */
    bool is_locked;      /* this rank holds a lock_all, and may not lock itself */
    bool has_ghost;      /* rma/ghost.h: */
    MPI_Win shared;      /* shares the memory of ghost and target */
    MPI_Comm sharing;    /* the ranks of `shared` */
};

/* Where a window's memory comes from: create, allocate, shared, dynamic. */
struct flavor {
    const char *name;
    void (*open)(struct window *window, MPI_Comm communicator);
    void (*close)(struct window *window);
};
enum { FLAVOR_CREATE, FLAVOR_ALLOCATE, FLAVOR_SHARED, FLAVOR_DYNAMIC, FLAVORS };
extern const struct flavor flavors[FLAVORS];

/* A row of a kernel's axes. */
#define FLAVOR_AXIS(fallback_) FLAVOR_ONLY_WITH_AXIS(fallback_, NULL)

/* The same, with a meaning only for some values of an earlier axis: "axis=value,value". */
#define FLAVOR_ONLY_WITH_AXIS(fallback_, with_)                                                    \
    CHOICE_AXIS_ONLY_WITH("flavor", "where the window's memory comes from", (fallback_), flavors,  \
                          (with_))

/* Collective: tell whether such a window can span all ranks; if not, the record has the reason, the
 * same on all ranks. */
bool window_is_supported(const struct launch *launch, const struct flavor *flavor,
                         struct record *record);

/* Collective: tell whether the ranks of each such communicator can share memory; if not, the record
 * has the reason, the same on all ranks. Some libraries have no shared windows if a setting forbids
 * shared memory. */
bool window_can_share(MPI_Comm communicator, struct record *record);

/* Collective: open a window with size_bytes of this rank's memory; its calls return errors. */
struct window window_open(const struct launch *launch, const struct flavor *flavor,
                          MPI_Aint size_bytes);
struct window window_open_with(const struct launch *launch, const struct flavor *flavor,
                               MPI_Aint size_bytes, MPI_Info info);

/* Record the properties of a window; on each rank, because each rank asks for its attributes. */
void record_window(struct record *record, MPI_Win window, const char *flavor, long long size_bytes);

/* Collective: close a window that no rank accesses any more; first release this rank's lock_all. */
void window_close(struct window *window);

/* Begin and end a lock_all of this rank, which may not lock itself meanwhile. A release without a
 * lock_all does nothing. */
void window_hold(struct window *window);
void window_release(struct window *window);

/* Around this rank's loads and stores in its own part: an epoch of its own, or its lock_all. With
 * MPI_LOCK_SHARED other ranks may hold shared locks, and barriers must separate the accesses.
 * MPI_Win_sync makes the window's public and private copy equal. */
void window_begin_own(struct window *window, int lock_type);
void window_end_own(struct window *window);

/* The same between bursts, if this rank holds a lock_all; else no epoch is open, and they do
 * nothing. */
void window_begin_between(struct window *window);
void window_end_between(struct window *window);

#endif
