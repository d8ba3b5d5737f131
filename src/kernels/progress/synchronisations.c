/* Synchronisations: what begins and completes an operation, at the origin and at the target. */
#include "harness/watchdog.h"
#include "progress/experiment.h"

static void nothing(struct experiment *experiment)
{
    (void)experiment;
}

static void lock_exclusive(struct experiment *experiment)
{
    CHECKED(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, experiment->target, 0, experiment->window));
}

static void lock_shared(struct experiment *experiment)
{
    CHECKED(MPI_Win_lock(MPI_LOCK_SHARED, experiment->target, 0, experiment->window));
}

/* No conflicting lock exists: all locks of such a cell are shared ones. */
static void lock_shared_nocheck(struct experiment *experiment)
{
    CHECKED(
        MPI_Win_lock(MPI_LOCK_SHARED, experiment->target, MPI_MODE_NOCHECK, experiment->window));
}

static void unlock(struct experiment *experiment)
{
    CHECKED(MPI_Win_unlock(experiment->target, experiment->window));
}

static void lock_all(struct experiment *experiment)
{
    CHECKED(MPI_Win_lock_all(0, experiment->window));
}

static void lock_all_nocheck(struct experiment *experiment)
{
    CHECKED(MPI_Win_lock_all(MPI_MODE_NOCHECK, experiment->window));
}

static void unlock_all(struct experiment *experiment)
{
    CHECKED(MPI_Win_unlock_all(experiment->window));
}

static void flush(struct experiment *experiment)
{
    CHECKED(MPI_Win_flush(experiment->target, experiment->window));
}

static void flush_local(struct experiment *experiment)
{
    CHECKED(MPI_Win_flush_local(experiment->target, experiment->window));
}

static void fence_first(struct experiment *experiment)
{
    CHECKED(MPI_Win_fence(MPI_MODE_NOPRECEDE, experiment->window));
}

static void fence_last(struct experiment *experiment)
{
    CHECKED(MPI_Win_fence(MPI_MODE_NOSUCCEED, experiment->window));
}

static void post(struct experiment *experiment)
{
    CHECKED(MPI_Win_post(experiment->peers, 0, experiment->window));
}

static void start(struct experiment *experiment)
{
    CHECKED(MPI_Win_start(experiment->peers, 0, experiment->window));
}

static void complete(struct experiment *experiment)
{
    CHECKED(MPI_Win_complete(experiment->window));
}

static void wait_for_origins(struct experiment *experiment)
{
    CHECKED(MPI_Win_wait(experiment->window));
}

#define NO_TARGET_PART nothing, nothing

const struct synchronisation synchronisations[] = {
    {"lock_exclusive", PASSIVE, true, false, nothing, nothing, nothing, lock_exclusive, unlock,
     nothing, NO_TARGET_PART},
    {"lock_shared", PASSIVE, false, false, nothing, nothing, nothing, lock_shared, unlock, nothing,
     NO_TARGET_PART},
    {"lock_shared_nocheck", PASSIVE, false, false, nothing, nothing, nothing, lock_shared_nocheck,
     unlock, nothing, NO_TARGET_PART},
    {"lock_all_flush", PASSIVE, false, false, lock_all, unlock_all, nothing, nothing, flush,
     nothing, NO_TARGET_PART},
    {"lock_all_nocheck", PASSIVE, false, false, lock_all_nocheck, unlock_all, nothing, nothing,
     flush, nothing, NO_TARGET_PART},
    {"lock_all_flush_local", PASSIVE, false, true, lock_all, unlock_all, nothing, nothing,
     flush_local, flush, NO_TARGET_PART},
    {"fence", COLLECTIVE_ACTIVE, false, false, nothing, nothing, fence_first, nothing, fence_last,
     nothing, fence_first, fence_last},
    {"pscw", GENERAL_ACTIVE, false, true, nothing, nothing, nothing, start, complete, nothing, post,
     wait_for_origins},
};
