/* The broadcast with MPI-2, as near to the source's programs as MPI allows: only a parent and its
 * child synchronise.
 *
 * Source: as tree_broadcast.c, appendices B and C. get, Appendix B: a parent sends a message that
 * says that it has the data, and its child gets the data. In the source the child gets inside a
 * fence's epoch, and looks at its own window until the data are there. Here the child locks its
 * parent's window for the get, and the unlock completes the get. put, Appendix C: a parent puts,
 * and its child looks at its own window until the data are there. Here the child posts its window
 * to its parent and waits, and the parent starts and completes. In get and put a rank serves the
 * child with the largest subtree first. */
#include <stdlib.h>

#include "harness/memory.h"
#include "luecke/tree_broadcast/tree.h"

enum { NOTICE_TAG = 1 };    /* as in the source */
enum { NOT_RECEIVED = -1 }; /* the number of no trial */

/* The ranks with which a rank synchronises. */
struct pairs {
    MPI_Group above, below; /* its parent, its children */
    int *children, children_number;
};

/* Leave a rank's children in the order in which it serves them; return their number. */
static int children_of(const struct pattern *pattern, int *children)
{
    int number = 0;
    for (int distance = reach_of(pattern->rank, pattern->ranks) / 2; distance > 0; distance /= 2) {
        if (pattern->rank + distance < pattern->ranks) {
            children[number++] = pattern->rank + distance;
        }
    }
    return number;
}

void pairwise_enter(struct pattern *pattern)
{
    if (pattern->interface->kind != MPI2_PAIRWISE) {
        return;
    }
    struct pairs *pairs = pattern->own = allocate(1, sizeof *pairs);
    const int parent = parent_of(pattern->rank), parents = pattern->rank == ROOT ? 0 : 1;
    MPI_Group every_rank;
    pairs->children = allocate((size_t)pattern->ranks, sizeof pairs->children[0]);
    pairs->children_number = children_of(pattern, pairs->children);
    CHECKED(MPI_Comm_group(world_communicator, &every_rank));
    CHECKED(MPI_Group_incl(every_rank, parents, &parent, &pairs->above));
    CHECKED(MPI_Group_incl(every_rank, pairs->children_number, pairs->children, &pairs->below));
    CHECKED(MPI_Group_free(&every_rank));
}

void pairwise_leave(struct pattern *pattern)
{
    struct pairs *pairs = pattern->own;
    if (pairs == NULL) {
        return;
    }
    if (pairs->above != MPI_GROUP_EMPTY) {
        CHECKED(MPI_Group_free(&pairs->above));
    }
    if (pairs->below != MPI_GROUP_EMPTY) {
        CHECKED(MPI_Group_free(&pairs->below));
    }
    free(pairs->children);
    free(pairs);
}

/* ---- THE TIMED PART of each rank ---- */

static void go_by_gets(struct pattern *pattern)
{
    const struct pairs *pairs = pattern->own;
    const MPI_Win window = pattern->others->window.handle;
    const int64_t trial = (int64_t)pattern->trial;
    int64_t notice = pattern->rank == ROOT ? trial : NOT_RECEIVED;
    if (pattern->rank != ROOT) {
        const int parent = parent_of(pattern->rank);
        CHECKED(MPI_Recv(&notice, 1, MPI_INT64_T, parent, NOTICE_TAG, world_communicator,
                         MPI_STATUS_IGNORE));
        CHECKED(MPI_Win_lock(MPI_LOCK_SHARED, parent, 0, window));
        get(pattern, pattern->data, parent, 0);
        CHECKED(MPI_Win_unlock(parent, window));
        verify_element(&pattern->found, notice, trial, 0, pattern->trial);
    }
    if (pattern->rank != ROOT && pairs->children_number > 0) {
        /* the get stored into this rank's window, and the unlock makes the store visible to
         * others */
        CHECKED(MPI_Win_lock(MPI_LOCK_SHARED, pattern->rank, 0, window));
        CHECKED(MPI_Win_unlock(pattern->rank, window));
    }
    for (int child = 0; child < pairs->children_number; child++) {
        CHECKED(MPI_Send(&notice, 1, MPI_INT64_T, pairs->children[child], NOTICE_TAG,
                         world_communicator));
    }
}

static void go_by_puts(struct pattern *pattern)
{
    const struct pairs *pairs = pattern->own;
    const MPI_Win window = pattern->others->window.handle;
    if (pattern->rank != ROOT) {
        CHECKED(MPI_Win_post(pairs->above, 0, window));
        CHECKED(MPI_Win_wait(window));
    }
    if (pairs->children_number > 0) {
        CHECKED(MPI_Win_start(pairs->below, 0, window));
        for (int child = 0; child < pairs->children_number; child++) {
            put(pattern, pattern->data, pairs->children[child], 0);
        }
        CHECKED(MPI_Win_complete(window));
    }
}

void pairwise_go(struct pattern *pattern, bool puts)
{
    (puts ? go_by_puts : go_by_gets)(pattern);
}
