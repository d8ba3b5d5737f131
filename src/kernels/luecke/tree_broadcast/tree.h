/* The tree of the broadcast, and the MPI-2 functions in which only parent and child synchronise. */
#ifndef ONESIDED_TREE_H
#define ONESIDED_TREE_H

#include "luecke/shared/pattern.h"

#define ROOT 0

/* The distance from a rank to its parent; a child is at half of this distance, at most. For rank 0
 * the least power of two that is at least `ranks`, else the rank's lowest bit. */
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

/* Only with MPI (pairwise_mpi.c). Before and after the trials of a cell: */
void pairwise_enter(struct pattern *pattern);
void pairwise_leave(struct pattern *pattern);
/* THE TIMED PART of each rank */
void pairwise_go(struct pattern *pattern, bool puts);

#endif
