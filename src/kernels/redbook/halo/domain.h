/* A periodic grid of points, cut into blocks: a block a rank, with ghost points all around it.
 *
 * Points are numbered with the last dimension contiguous. A grid of two dimensions is one of three
 * with a single layer and no ghosts in the first. */
#ifndef ONESIDED_DOMAIN_H
#define ONESIDED_DOMAIN_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#define DIMENSIONS 3
#define DIRECTIONS_MAX 26

/* Part of a block: where it begins, ghosts counted, and how many points it has. */
struct box {
    int begin[DIMENSIONS], size[DIMENSIONS];
};

struct domain {
    int first_dimension; /* with ghosts: 1 where there are two dimensions */
    int side;            /* points of the whole grid in each dimension that has ghosts */
    int blocks[DIMENSIONS];
};

struct block {
    int place[DIMENSIONS]; /* among the blocks */
    int first[DIMENSIONS]; /* of its points in the whole grid */
    int size[DIMENSIONS];  /* without ghosts */
    int whole[DIMENSIONS]; /* with them */
};

/* Where a message goes: to the block so many places on, in each dimension. In an exchange in steps
 * only one of the three is not 0, and the message has the ghosts that earlier steps have brought.
 */
struct direction {
    int to[DIMENSIONS];
    bool has_ghosts;
};

/* The ranks as blocks, as MPI_Dims_create spreads them. */
struct domain domain_over(int ranks, int dimensions, int side);

/* False: a block would have no point. */
bool domain_has_points(const struct domain *domain);
struct block domain_block(const struct domain *domain, int rank);

/* The rank of the block that lies in a direction, or against it. */
int domain_neighbour(const struct domain *domain, int rank, const struct direction *direction,
                     int sign);

/* All directions of an exchange, corners too; or those of the steps, two a step. */
int domain_directions(const struct domain *domain, bool in_steps, struct direction *directions);

/* What a block sends in a direction; which of its ghosts a message in this direction fills. */
struct box box_sent(const struct domain *domain, const struct block *block,
                    const struct direction *direction);
struct box box_filled(const struct domain *domain, const struct block *block,
                      const struct direction *direction);
int box_points(const struct box *box);

/* A box in the memory of a block. */
MPI_Datatype box_type(const struct block *block, const struct box *box);

/* A point's place in the memory of its block, and in the whole grid, which begins again at its end.
 */
int64_t block_index(const struct block *block, const int *at);
int64_t domain_index(const struct domain *domain, const struct block *block, const int *at);

#endif
