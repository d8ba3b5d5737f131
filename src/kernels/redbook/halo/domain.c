/* A periodic grid of points, cut into blocks: one for each rank, with ghost points around it. */
#include "redbook/halo/domain.h"

#include "mpi/checked.h"

struct domain domain_over(int ranks, int dimensions, int side)
{
    struct domain domain = {
        .first_dimension = DIMENSIONS - dimensions, .side = side, .blocks = {1, 0, 0}};
    if (dimensions == DIMENSIONS) {
        domain.blocks[0] = 0;
    }
    CHECKED(MPI_Dims_create(ranks, dimensions, domain.blocks + domain.first_dimension));
    return domain;
}

static int side_of(const struct domain *domain, int dimension)
{
    return dimension < domain->first_dimension ? 1 : domain->side;
}

static int ghosts_of(const struct domain *domain, int dimension)
{
    return dimension < domain->first_dimension ? 0 : 1;
}

bool domain_has_points(const struct domain *domain)
{
    bool has = true;
    for (int i = 0; i < DIMENSIONS; i++) {
        has = has && domain->blocks[i] <= side_of(domain, i);
    }
    return has;
}

struct block domain_block(const struct domain *domain, int rank)
{
    struct block block;
    for (int i = DIMENSIONS - 1; i >= 0; i--) {
        const int place = rank % domain->blocks[i];
        rank /= domain->blocks[i];
        block.place[i] = place;
        block.first[i] = side_of(domain, i) * place / domain->blocks[i];
        block.size[i] = side_of(domain, i) * (place + 1) / domain->blocks[i] - block.first[i];
        block.whole[i] = block.size[i] + 2 * ghosts_of(domain, i);
    }
    return block;
}

int domain_neighbour(const struct domain *domain, int rank, const struct direction *direction,
                     int sign)
{
    const struct block block = domain_block(domain, rank);
    int neighbour = 0;
    for (int i = 0; i < DIMENSIONS; i++) {
        const int count = domain->blocks[i];
        const int place = (block.place[i] + sign * direction->to[i] + count) % count;
        neighbour = neighbour * count + place;
    }
    return neighbour;
}

static int directions_in_steps(const struct domain *domain, struct direction *directions)
{
    int count = 0;
    for (int i = domain->first_dimension; i < DIMENSIONS; i++) {
        for (int to = -1; to <= 1; to += 2) {
            directions[count] = (struct direction){.has_ghosts = true};
            directions[count++].to[i] = to;
        }
    }
    return count;
}

int domain_directions(const struct domain *domain, bool in_steps, struct direction *directions)
{
    const int most = 1 - domain->first_dimension;
    int count = 0;
    if (in_steps) {
        return directions_in_steps(domain, directions);
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

/* In dimensions in which it does not move, a message has all points of the block. A message of a
 * step also has the ghosts that earlier steps have filled. */
static struct box across(const struct domain *domain, const struct block *block,
                         const struct direction *direction)
{
    struct box box;
    bool is_earlier = direction->has_ghosts;
    for (int i = 0; i < DIMENSIONS; i++) {
        is_earlier = is_earlier && direction->to[i] == 0;
        box.begin[i] = is_earlier ? 0 : ghosts_of(domain, i);
        box.size[i] = is_earlier ? block->whole[i] : block->size[i];
    }
    return box;
}

struct box box_sent(const struct domain *domain, const struct block *block,
                    const struct direction *direction)
{
    struct box box = across(domain, block, direction);
    for (int i = 0; i < DIMENSIONS; i++) {
        if (direction->to[i] != 0) {
            box.begin[i] = direction->to[i] < 0 ? 1 : block->size[i];
            box.size[i] = 1;
        }
    }
    return box;
}

struct box box_filled(const struct domain *domain, const struct block *block,
                      const struct direction *direction)
{
    struct box box = across(domain, block, direction);
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

int64_t domain_index(const struct domain *domain, const struct block *block, const int *at)
{
    int64_t index = 0;
    for (int i = 0; i < DIMENSIONS; i++) {
        const int side = side_of(domain, i);
        index = index * side + (block->first[i] + at[i] - ghosts_of(domain, i) + side) % side;
    }
    return index;
}
