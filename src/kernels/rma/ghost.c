/* A ghost process: a rank that waits in MPI, so that accesses need not wait for a target that
 * computes. */
#include "rma/ghost.h"

#include "harness/memory.h"
#include "mpi/checked.h"
#include "mpi/world.h"

/* The shared window is locked as long as it is open: MPI_Win_sync needs an epoch. */
static void release_both(struct window *window)
{
    CHECKED(MPI_Win_free(&window->handle));
    CHECKED(MPI_Win_unlock_all(window->shared));
    CHECKED(MPI_Win_free(&window->shared));
}

static const struct flavor with_ghost = {.name = "allocate", .close = release_both};

struct window ghost_open(const struct launch *launch, int target, int ghost, MPI_Aint size_bytes)
{
    const bool is_target = launch->rank == target, is_ghost = launch->rank == ghost;
    struct window window = {.flavor = &with_ghost,
                            .size_bytes = is_target ? size_bytes : 0,
                            .begins = allocate((size_t)launch->ranks, sizeof(MPI_Aint)),
                            .rank = launch->rank,
                            .has_ghost = true};
    int unit = 1;
    CHECKED(MPI_Win_allocate_shared(window.size_bytes, unit, MPI_INFO_NULL, world_communicator,
                                    &window.memory, &window.shared));
    CHECKED(MPI_Win_set_errhandler(window.shared, MPI_ERRORS_RETURN));
    CHECKED(MPI_Win_lock_all(0, window.shared));
    if (is_ghost) {
        CHECKED(
            MPI_Win_shared_query(window.shared, target, &window.size_bytes, &unit, &window.memory));
    }
    CHECKED(MPI_Win_create(is_ghost ? window.memory : NULL, is_ghost ? window.size_bytes : 0, 1,
                           MPI_INFO_NULL, world_communicator, &window.handle));
    CHECKED(MPI_Win_set_errhandler(window.handle, MPI_ERRORS_RETURN));
    return window;
}

void ghost_pass_on(struct window *window, int ghost)
{
    CHECKED(MPI_Barrier(world_communicator));
    if (window->rank == ghost) {
        window_begin_own(window, MPI_LOCK_SHARED);
        window_end_own(window);
    }
    CHECKED(MPI_Barrier(world_communicator));
}
