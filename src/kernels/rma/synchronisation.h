/* Synchronisations: the calls around an operation, at its origin and at its target. */
#ifndef ONESIDED_SYNCHRONISATION_H
#define ONESIDED_SYNCHRONISATION_H

#include <mpi.h>
#include <stdbool.h>

#include "harness/launch.h"
#include "mpi/checked.h"

struct synchronisation;

/* The arguments of the calls of an epoch. */
struct epoch {
    const struct synchronisation *synchronisation;
    MPI_Win window;
    int target;      /* the target's rank, for its origins */
    MPI_Group peers; /* pscw: the target at its origins, all origins at the target */
};

enum epoch_kind { PASSIVE, GENERAL_ACTIVE, COLLECTIVE_ACTIVE };

/* The timed calls at an origin, before and after the operation. */
enum calls { LOCK_UNLOCK, NOTHING_FLUSH, NOTHING_FLUSH_LOCAL, FENCE_FENCE, START_COMPLETE };

struct synchronisation {
    const char *name;
    enum epoch_kind kind;
    enum calls calls;
    int lock_type;          /* LOCK_UNLOCK */
    int assertion;          /* of the lock */
    bool completes_locally; /* says nothing about the target, unless the operation fetches */
    /* at an origin, untimed: around the cell; before the wait for the target's flag */
    void (*enter)(const struct epoch *epoch);
    void (*leave)(const struct epoch *epoch);
    void (*open)(const struct epoch *epoch);
    /* at an origin, untimed: completes at the target, if the timed call does not */
    void (*finish)(const struct epoch *epoch);
    /* at the target (COLLECTIVE_ACTIVE: at all ranks but origins), before and after its state */
    void (*target_open)(const struct epoch *epoch);
    void (*target_close)(const struct epoch *epoch);
};
extern const struct synchronisation synchronisations[8];

/* A row of a kernel's axes. */
#define SYNCHRONISATION_AXIS(fallback_)                                                            \
    CHOICE_AXIS("synchronisation", "what begins and completes it", (fallback_), synchronisations)

/* A row by its name, which must be one of them. */
const struct synchronisation *synchronisation_named(const char *name);

bool is_exclusive(const struct synchronisation *synchronisation);

/* ---- The timed calls, inlined into their loop ---- */

#define INLINE static inline __attribute__((always_inline))

/* `opened`: an epoch of fences is open already. */
INLINE void begin_epoch(const struct epoch *epoch, enum calls calls, bool opened)
{
    if (calls == LOCK_UNLOCK) {
        CHECKED(MPI_Win_lock(epoch->synchronisation->lock_type, epoch->target,
                             epoch->synchronisation->assertion, epoch->window));
    } else if (calls == START_COMPLETE) {
        CHECKED(MPI_Win_start(epoch->peers, 0, epoch->window));
    } else if (calls == FENCE_FENCE && !opened) {
        CHECKED(MPI_Win_fence(MPI_MODE_NOPRECEDE, epoch->window));
    }
}

INLINE void complete_epoch(const struct epoch *epoch, enum calls calls)
{
    if (calls == NOTHING_FLUSH) {
        CHECKED(MPI_Win_flush(epoch->target, epoch->window));
    } else if (calls == LOCK_UNLOCK) {
        CHECKED(MPI_Win_unlock(epoch->target, epoch->window));
    } else if (calls == NOTHING_FLUSH_LOCAL) {
        CHECKED(MPI_Win_flush_local(epoch->target, epoch->window));
    } else if (calls == START_COMPLETE) {
        CHECKED(MPI_Win_complete(epoch->window));
    } else {
        CHECKED(MPI_Win_fence(MPI_MODE_NOSUCCEED, epoch->window));
    }
}

#endif
