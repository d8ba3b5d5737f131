/* A periodic grid of points, cut into blocks: one for each rank, with ghost points around it.
 *
 * The last dimension is contiguous in memory. A grid of two dimensions is stored with three
 * dimensions; the first then has a single layer and no ghosts. */
#ifndef ONESIDED_DOMAIN_H
#define ONESIDED_DOMAIN_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#define DIMENSIONS 3
#define DIRECTIONS_MAX 26

/* Part of a block: its first point, counted from the first ghost, and its number of points. */
struct box {
    int begin[DIMENSIONS], size[DIMENSIONS];
};

struct domain {
    int first_dimension; /* with ghosts: 1 if the grid has two dimensions */
    int side;            /* points of the whole grid in each dimension with ghosts */
    int blocks[DIMENSIONS];
};

struct block {
    int place[DIMENSIONS]; /* among the blocks */
    int first[DIMENSIONS]; /* its first point in the whole grid */
    int size[DIMENSIONS];  /* without ghosts */
    int whole[DIMENSIONS]; /* with ghosts */
};

/* The direction of a message: how many blocks on it goes, in each dimension. In an exchange in
 * steps only one of the three numbers is not 0, and the message includes the ghosts of earlier
 * steps. */
struct direction {
    int to[DIMENSIONS];
    bool has_ghosts;
};

/* Distribute the ranks over the dimensions by MPI_Dims_create. */
struct domain domain_over(int ranks, int dimensions, int side);

/* False if a block would have no point. */
bool domain_has_points(const struct domain *domain);
struct block domain_block(const struct domain *domain, int rank);

/* The rank of the block in a direction, or in the opposite direction. */
int domain_neighbour(const struct domain *domain, int rank, const struct direction *direction,
                     int sign);

/* All directions of an exchange, also to corners; or the directions of the steps, two for each
 * step. */
int domain_directions(const struct domain *domain, bool in_steps, struct direction *directions);

/* The part that a block sends in a direction; its ghosts that a message in this direction fills. */
struct box box_sent(const struct domain *domain, const struct block *block,
                    const struct direction *direction);
struct box box_filled(const struct domain *domain, const struct block *block,
                      const struct direction *direction);
int box_points(const struct box *box);

/* The datatype of a box in the memory of a block. */
MPI_Datatype box_type(const struct block *block, const struct box *box);

/* A point's place in the memory of its block, and its place in the whole, periodic grid. */
int64_t block_index(const struct block *block, const int *at);
int64_t domain_index(const struct domain *domain, const struct block *block, const int *at);

#endif
