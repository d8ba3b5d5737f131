/* A periodic grid of points, cut into blocks: a block a rank, with ghost points all around it. */
#include "redbook/halo/grid.h"

#include "mpi/checked.h"

struct grid grid_over(int ranks, int dimensions, int side)
{
    struct grid grid = {
        .first_dimension = DIMENSIONS - dimensions, .side = side, .blocks = {1, 0, 0}};
    if (dimensions == DIMENSIONS) {
        grid.blocks[0] = 0;
    }
    CHECKED(MPI_Dims_create(ranks, dimensions, grid.blocks + grid.first_dimension));
    return grid;
}

static int side_of(const struct grid *grid, int dimension)
{
    return dimension < grid->first_dimension ? 1 : grid->side;
}

static int ghosts_of(const struct grid *grid, int dimension)
{
    return dimension < grid->first_dimension ? 0 : 1;
}

bool grid_has_points(const struct grid *grid)
{
    bool has = true;
    for (int i = 0; i < DIMENSIONS; i++) {
        has = has && grid->blocks[i] <= side_of(grid, i);
    }
    return has;
}

struct block grid_block(const struct grid *grid, int rank)
{
    struct block block;
    for (int i = DIMENSIONS - 1; i >= 0; i--) {
        const int place = rank % grid->blocks[i];
        rank /= grid->blocks[i];
        block.place[i] = place;
        block.first[i] = side_of(grid, i) * place / grid->blocks[i];
        block.size[i] = side_of(grid, i) * (place + 1) / grid->blocks[i] - block.first[i];
        block.whole[i] = block.size[i] + 2 * ghosts_of(grid, i);
    }
    return block;
}

int grid_neighbour(const struct grid *grid, int rank, const struct direction *direction, int sign)
{
    const struct block block = grid_block(grid, rank);
    int neighbour = 0;
    for (int i = 0; i < DIMENSIONS; i++) {
        const int count = grid->blocks[i];
        const int place = (block.place[i] + sign * direction->to[i] + count) % count;
        neighbour = neighbour * count + place;
    }
    return neighbour;
}

static int directions_in_steps(const struct grid *grid, struct direction *directions)
{
    int count = 0;
    for (int i = grid->first_dimension; i < DIMENSIONS; i++) {
        for (int to = -1; to <= 1; to += 2) {
            directions[count] = (struct direction){.has_ghosts = true};
            directions[count++].to[i] = to;
        }
    }
    return count;
}

int grid_directions(const struct grid *grid, bool in_steps, struct direction *directions)
{
    const int most = 1 - grid->first_dimension;
    int count = 0;
    if (in_steps) {
        return directions_in_steps(grid, directions);
    }
    for (int i = -most; i <= most; i++) {
        for (int j = -1; j <= 1; j++) {
            for (int k = -1; k <= 1; k++) {
                if (i != 0 || j != 0 || k != 0) {
                    directions[count++] = (struct direction){.to = {i, j, k}};
                }
            }
        }
    }
    return count;
}

/* In a dimension in which a message does not move it has all points of the block, and where it has
 * ghosts, those that an earlier step has filled. */
static struct box across(const struct grid *grid, const struct block *block,
                         const struct direction *direction)
{
    struct box box;
    bool is_earlier = direction->has_ghosts;
    for (int i = 0; i < DIMENSIONS; i++) {
        is_earlier = is_earlier && direction->to[i] == 0;
        box.begin[i] = is_earlier ? 0 : ghosts_of(grid, i);
        box.size[i] = is_earlier ? block->whole[i] : block->size[i];
    }
    return box;
}

struct box box_sent(const struct grid *grid, const struct block *block,
                    const struct direction *direction)
{
    struct box box = across(grid, block, direction);
    for (int i = 0; i < DIMENSIONS; i++) {
        if (direction->to[i] != 0) {
            box.begin[i] = direction->to[i] < 0 ? 1 : block->size[i];
            box.size[i] = 1;
        }
    }
    return box;
}

struct box box_filled(const struct grid *grid, const struct block *block,
                      const struct direction *direction)
{
    struct box box = across(grid, block, direction);
    for (int i = 0; i < DIMENSIONS; i++) {
        if (direction->to[i] != 0) {
            box.begin[i] = direction->to[i] < 0 ? block->size[i] + 1 : 0;
            box.size[i] = 1;
        }
    }
    return box;
}

int box_points(const struct box *box)
{
    return box->size[0] * box->size[1] * box->size[2];
}

MPI_Datatype box_type(const struct block *block, const struct box *box)
{
    MPI_Datatype type;
    CHECKED(MPI_Type_create_subarray(DIMENSIONS, block->whole, box->size, box->begin, MPI_ORDER_C,
                                     MPI_INT64_T, &type));
    CHECKED(MPI_Type_commit(&type));
    return type;
}

int64_t block_index(const struct block *block, const int *at)
{
    return ((int64_t)at[0] * block->whole[1] + at[1]) * block->whole[2] + at[2];
}

int64_t grid_index(const struct grid *grid, const struct block *block, const int *at)
{
    int64_t index = 0;
    for (int i = 0; i < DIMENSIONS; i++) {
        const int side = side_of(grid, i);
        index = index * side + (block->first[i] + at[i] - ghosts_of(grid, i) + side) % side;
    }
    return index;
}
