/* Synchronisations: the untimed calls around an operation, at the origin and at the target. The
 * header has the timed calls. */
#include "rma/synchronisation.h"

#include <string.h>

#include "mpi/checked.h"

static void nothing(const struct epoch *epoch)
{
    (void)epoch;
}

static void lock_all(const struct epoch *epoch)
{
    CHECKED(MPI_Win_lock_all(0, epoch->window));
}

static void lock_all_nocheck(const struct epoch *epoch)
{
    CHECKED(MPI_Win_lock_all(MPI_MODE_NOCHECK, epoch->window));
}

static void unlock_all(const struct epoch *epoch)
{
    CHECKED(MPI_Win_unlock_all(epoch->window));
}

static void flush(const struct epoch *epoch)
{
    CHECKED(MPI_Win_flush(epoch->target, epoch->window));
}

static void fence_first(const struct epoch *epoch)
{
    CHECKED(MPI_Win_fence(MPI_MODE_NOPRECEDE, epoch->window));
}

static void fence_last(const struct epoch *epoch)
{
    CHECKED(MPI_Win_fence(MPI_MODE_NOSUCCEED, epoch->window));
}

static void post(const struct epoch *epoch)
{
    CHECKED(MPI_Win_post(epoch->peers, 0, epoch->window));
}

static void wait_for_origins(const struct epoch *epoch)
{
    CHECKED(MPI_Win_wait(epoch->window));
}

#define NOTHING_AT_THE_TARGET .target_open = nothing, .target_close = nothing
#define LOCKED(type_, assertion_)                                                                  \
    .kind = PASSIVE, .calls = LOCK_UNLOCK, .lock_type = (type_), .assertion = (assertion_),        \
    .enter = nothing, .leave = nothing, .open = nothing, .finish = nothing, NOTHING_AT_THE_TARGET
#define IN_LOCK_ALL(enter_, calls_, finish_)                                                       \
    .kind = PASSIVE, .calls = (calls_), .enter = (enter_), .leave = unlock_all, .open = nothing,   \
    .finish = (finish_), NOTHING_AT_THE_TARGET

const struct synchronisation synchronisations[] = {
    {.name = "lock_exclusive", LOCKED(MPI_LOCK_EXCLUSIVE, 0)},
    {.name = "lock_shared", LOCKED(MPI_LOCK_SHARED, 0)},
    /* no locks conflict: all locks of such a cell are shared */
    {.name = "lock_shared_nocheck", LOCKED(MPI_LOCK_SHARED, MPI_MODE_NOCHECK)},
    {.name = "lock_all_flush", IN_LOCK_ALL(lock_all, NOTHING_FLUSH, nothing)},
    {.name = "lock_all_nocheck", IN_LOCK_ALL(lock_all_nocheck, NOTHING_FLUSH, nothing)},
    {.name = "lock_all_flush_local",
     IN_LOCK_ALL(lock_all, NOTHING_FLUSH_LOCAL, flush),
     .completes_locally = true},
    {.name = "fence",
     .kind = COLLECTIVE_ACTIVE,
     .calls = FENCE_FENCE,
     .enter = nothing,
     .leave = nothing,
     .open = fence_first,
     .finish = nothing,
     .target_open = fence_first,
     .target_close = fence_last},
    {.name = "pscw",
     .kind = GENERAL_ACTIVE,
     .calls = START_COMPLETE,
     .completes_locally = true,
     .enter = nothing,
     .leave = nothing,
     .open = nothing,
     .finish = nothing,
     .target_open = post,
     .target_close = wait_for_origins},
};

const struct synchronisation *synchronisation_named(const char *name)
{
    const struct synchronisation *row = synchronisations;
    while (strcmp(row->name, name) != 0) {
        row++;
    }
    return row;
}

bool is_exclusive(const struct synchronisation *synchronisation)
{
    return synchronisation->calls == LOCK_UNLOCK &&
           synchronisation->lock_type == MPI_LOCK_EXCLUSIVE;
}
