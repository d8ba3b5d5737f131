/* Groups of ranks that share memory. */
#include "redbook/hierarchical_collectives/groups.h"

#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"
#include "mpi/checked.h"

/* Tell all ranks the group and the place of each rank. */
static void tell_all(struct groups *groups, int ranks)
{
    const int own[2] = {groups->index, groups->place};
    int *all = allocate(2 * (size_t)ranks, sizeof all[0]);
    groups->index_of = allocate((size_t)ranks, sizeof groups->index_of[0]);
    groups->place_of = allocate((size_t)ranks, sizeof groups->place_of[0]);
    groups->sizes = allocate((size_t)ranks, sizeof groups->sizes[0]);
    groups->begins = allocate((size_t)ranks, sizeof groups->begins[0]);
    CHECKED(MPI_Allgather(own, 2, MPI_INT, all, 2, MPI_INT, world_communicator));
    for (int rank = 0; rank < ranks; rank++) {
        const int index = groups->index_of[rank] = all[2 * rank];
        groups->place_of[rank] = all[2 * rank + 1];
        groups->sizes[index]++;
        groups->count = index >= groups->count ? index + 1 : groups->count;
    }
    for (int index = 1; index < groups->count; index++) {
        groups->begins[index] = groups->begins[index - 1] + groups->sizes[index - 1];
    }
    free(all);
}

struct groups groups_open(const struct launch *launch, int most)
{
    struct groups groups = {.leaders = MPI_COMM_NULL};
    MPI_Comm node;
    int place;
    CHECKED(MPI_Comm_split_type(world_communicator, MPI_COMM_TYPE_SHARED, launch->rank,
                                MPI_INFO_NULL, &node));
    CHECKED(MPI_Comm_rank(node, &place));
    CHECKED(MPI_Comm_split(node, most > 0 ? place / most : 0, place, &groups.members));
    CHECKED(MPI_Comm_free(&node));
    CHECKED(MPI_Comm_rank(groups.members, &groups.place));
    CHECKED(MPI_Comm_size(groups.members, &groups.size));
    CHECKED(MPI_Comm_split(world_communicator, groups.place == LEADER ? 0 : MPI_UNDEFINED,
                           launch->rank, &groups.leaders));
    if (groups.place == LEADER) {
        CHECKED(MPI_Comm_rank(groups.leaders, &groups.index));
    }
    CHECKED(MPI_Bcast(&groups.index, 1, MPI_INT, LEADER, groups.members));
    tell_all(&groups, launch->ranks);
    return groups;
}

void groups_share(struct groups *groups, size_t bytes)
{
    const size_t lines = (bytes + LINE_BYTES - 1) / LINE_BYTES;
    const MPI_Aint whole = (MPI_Aint)(sizeof(struct signs) + lines * LINE_BYTES);
    void *own;
    groups->parts = allocate((size_t)groups->size, sizeof groups->parts[0]);
    CHECKED(
        MPI_Win_allocate_shared(whole, 1, MPI_INFO_NULL, groups->members, &own, &groups->window));
    CHECKED(MPI_Win_set_errhandler(groups->window, MPI_ERRORS_RETURN));
    for (int place = 0; place < groups->size; place++) {
        MPI_Aint size_bytes;
        int unit;
        CHECKED(
            MPI_Win_shared_query(groups->window, place, &size_bytes, &unit, &groups->parts[place]));
    }
    CHECKED(MPI_Win_lock_all(MPI_MODE_NOCHECK, groups->window));
    memset(own, 0, (size_t)whole);
    CHECKED(MPI_Win_sync(groups->window));
    CHECKED(MPI_Barrier(groups->members));
    CHECKED(MPI_Win_sync(groups->window));
}

void groups_unshare(struct groups *groups)
{
    CHECKED(MPI_Win_unlock_all(groups->window));
    CHECKED(MPI_Win_free(&groups->window));
    free(groups->parts);
}

void groups_close(struct groups *groups)
{
    if (groups->leaders != MPI_COMM_NULL) {
        CHECKED_OF_SOME(MPI_Comm_free(&groups->leaders));
    }
    CHECKED(MPI_Comm_free(&groups->members));
    free(groups->index_of);
    free(groups->place_of);
    free(groups->sizes);
    free(groups->begins);
}
