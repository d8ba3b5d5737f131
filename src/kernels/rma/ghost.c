/* A ghost process: a rank that waits in MPI, so that accesses need not wait for a computing
 * target. */
#include "rma/ghost.h"

#include "harness/memory.h"
#include "mpi/checked.h"
#include "mpi/world.h"

/* The shared window is locked while it is open, because MPI_Win_sync needs an epoch. MPI allows its
 * communicator to be freed before, but then MPI_Win_unlock_all of Intel MPI 2021.18.1 crashes. */
static void release_both(struct window *window)
{
    CHECKED(MPI_Win_free(&window->handle));
    CHECKED(MPI_Win_unlock_all(window->shared));
    CHECKED(MPI_Win_free(&window->shared));
    CHECKED(MPI_Comm_free(&window->sharing));
}

static const struct flavor with_ghost = {.name = "allocate", .close = release_both};

static MPI_Comm ranks_of_this_machine(void)
{
    MPI_Comm here;
    CHECKED(MPI_Comm_split_type(world_communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here));
    return here;
}

/* A rank's number in that communicator; MPI_UNDEFINED if it is on another machine. */
static int rank_in(MPI_Comm here, int rank)
{
    MPI_Group all, own;
    int found = MPI_UNDEFINED;
    CHECKED(MPI_Comm_group(world_communicator, &all));
    CHECKED(MPI_Comm_group(here, &own));
    CHECKED(MPI_Group_translate_ranks(all, 1, &rank, own, &found));
    CHECKED(MPI_Group_free(&own));
    CHECKED(MPI_Group_free(&all));
    return found;
}

bool ghost_is_supported(int target, int ghost, struct record *record)
{
    MPI_Comm here = ranks_of_this_machine();
    int together =
        (rank_in(here, target) == MPI_UNDEFINED) == (rank_in(here, ghost) == MPI_UNDEFINED);
    CHECKED(MPI_Allreduce(MPI_IN_PLACE, &together, 1, MPI_INT, MPI_MIN, world_communicator));
    if (!together) {
        record_status(record, CELL_UNSUPPORTED,
                      "a ghost process shares its target's memory: expected both on one machine");
    }
    const bool supported = together && window_can_share(here, record);
    CHECKED(MPI_Comm_free(&here));
    return supported;
}

struct window ghost_open(const struct launch *launch, int target, int ghost, MPI_Aint size_bytes)
{
    const bool is_target = launch->rank == target, is_ghost = launch->rank == ghost;
    struct window window = {.flavor = &with_ghost,
                            .size_bytes = is_target ? size_bytes : 0,
                            .begins = allocate((size_t)launch->ranks, sizeof(MPI_Aint)),
                            .rank = launch->rank,
                            .has_ghost = true,
                            .sharing = ranks_of_this_machine()};
    int unit = 1;
    CHECKED(MPI_Win_allocate_shared(window.size_bytes, unit, MPI_INFO_NULL, window.sharing,
                                    &window.memory, &window.shared));
    CHECKED(MPI_Win_set_errhandler(window.shared, MPI_ERRORS_RETURN));
    CHECKED(MPI_Win_lock_all(0, window.shared));
    if (is_ghost) {
        CHECKED(MPI_Win_shared_query(window.shared, rank_in(window.sharing, target),
                                     &window.size_bytes, &unit, &window.memory));
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
