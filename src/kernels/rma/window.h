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
    MPI_Aint *begins;    /* by rank: the displacement of its first byte; a dynamic window's are
                            addresses, all others' are 0 */
    int rank;            /* this one's */
    bool is_locked;      /* this rank holds a lock_all: it may not lock itself then */
    bool has_ghost;      /* rma/ghost.h: */
    MPI_Win shared;      /* by which the ghost and its target have the same memory */
    MPI_Comm sharing;    /* the ranks of that */
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
#define FLAVOR_AXIS(fallback_)                                                                     \
    {.name = "flavor",                                                                             \
     .help = "where the window's memory comes from",                                               \
     .kind = AXIS_CHOICE,                                                                          \
     .fallback = (fallback_),                                                                      \
     .choices = TABLE(flavors)}

/* The same, where an axis before this one has one of some values: "axis=value,value". */
#define FLAVOR_ONLY_WITH_AXIS(fallback_, with_)                                                    \
    {.name = "flavor",                                                                             \
     .help = "where the window's memory comes from",                                               \
     .kind = AXIS_CHOICE,                                                                          \
     .fallback = (fallback_),                                                                      \
     .choices = TABLE(flavors),                                                                    \
     .only_with = (with_)}

/* Collective: tell whether such a window can span all ranks; leave the reason in the record if it
 * cannot, the same on all ranks. */
bool window_is_supported(const struct launch *launch, const struct flavor *flavor,
                         struct record *record);

/* Collective: tell whether the ranks of each such communicator can share memory; leave the reason
 * in the record if they cannot, the same on all ranks. Some libraries have no shared windows where
 * they were told to share no memory. */
bool window_can_share(MPI_Comm communicator, struct record *record);

/* Collective: open a window with so many bytes of this rank's; its errors are returned. */
struct window window_open(const struct launch *launch, const struct flavor *flavor,
                          MPI_Aint size_bytes);
struct window window_open_with(const struct launch *launch, const struct flavor *flavor,
                               MPI_Aint size_bytes, MPI_Info info);

/* Keep what can be known of a window; on each rank, for the attributes may be asked locally. */
void record_window(struct record *record, MPI_Win window, const char *flavor, long long size_bytes);

/* Collective: nobody accesses it any more. A lock_all that this rank holds is released before. */
void window_close(struct window *window);

/* A lock_all of this rank, which may not lock itself meanwhile. To release none does nothing. */
void window_hold(struct window *window);
void window_release(struct window *window);

/* An epoch of this rank's own, for its loads and stores in its own part; inside the lock_all that
 * it holds, if it does. With MPI_LOCK_SHARED others may hold shared locks, and barriers must keep
 * the accesses apart. MPI_Win_sync keeps both copies of the window alike. */
void window_begin_own(struct window *window, int lock_type);
void window_end_own(struct window *window);

/* The same where only a lock_all is an epoch that needs it: else none is open between bursts. */
void window_begin_between(struct window *window);
void window_end_between(struct window *window);

#endif
