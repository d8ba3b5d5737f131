/* The tree of the broadcast, and the ways of MPI-2 that synchronise a parent and a child alone. */
#ifndef ONESIDED_TREE_H
#define ONESIDED_TREE_H

#include "luecke/shared/pattern.h"

#define ROOT 0

/* The distance to a rank's largest possible child and to its parent: the least power of two that is
 * not below the ranks for rank 0, else the lowest bit. */
static inline int reach_of(int rank, int ranks)
{
    int reach = 1;
    while (rank == ROOT ? reach < ranks : (rank & reach) == 0) {
        reach *= 2;
    }
    return reach;
}

static inline int parent_of(int rank)
{
    return rank & (rank - 1);
}

/* Of MPI alone (pairwise_mpi.c). Around the trials of a cell: */
void pairwise_enter(struct pattern *pattern);
void pairwise_leave(struct pattern *pattern);
/* THE TIMED PART of each rank */
void pairwise_go(struct pattern *pattern, bool puts);

#endif
