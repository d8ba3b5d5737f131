/* A random tree: constructors inside each other. */
#include "data/conformance/shape.h"

#define DEPTH 3
#define ITEM_ELEMENTS_MAX 64

uint64_t mixed(uint64_t a, uint64_t b)
{
    uint64_t bits = a * 0x9E3779B97F4A7C15u + (b + 1) * 0xD1B54A32D192ED03u;
    bits = (bits ^ (bits >> 29)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 32)) * 0x94D049BB133111EBu;
    return bits ^ (bits >> 29);
}

struct draw {
    struct drawn *drawn;
    uint64_t state;
};

static int drawn_from(struct draw *draw, int least, int most)
{
    draw->state = mixed(draw->state, 1);
    return least + (int)(draw->state % (uint64_t)(most - least + 1));
}

/* The elements of a node, from its begin to the end of its extent. Copies of the node that follow
 * each other at distances of its extent do not overlap. */
struct place {
    const struct shape *shape;
    int begin, extent; /* in elements: its lower bound and its extent */
    int elements;
};

static struct shape *node(struct draw *draw, enum constructor constructor)
{
    struct shape *shape = &draw->drawn->nodes[draw->drawn->used++];
    *shape = (struct shape){.constructor = constructor};
    return shape;
}

static struct place draw_one(struct draw *draw, int depth);

/* Several blocks, all of one child or each of a child of its own, with gaps and in any order. */
static struct place draw_blocks(struct draw *draw, struct shape *shape, struct place child,
                                int depth)
{
    struct place place = {.shape = shape, .extent = 0};
    const bool by_child = shape->constructor == INDEXED || shape->constructor == INDEXED_BLOCK;
    const bool alike = shape->constructor == INDEXED_BLOCK || shape->constructor == HINDEXED_BLOCK;
    const int shift = drawn_from(draw, -4, 2);
    int next = 0, least = 0, most = 0;
    shape->count = drawn_from(draw, 2, BLOCKS_MAX - 1);
    const int turn = drawn_from(draw, 0, shape->count - 1);
    for (int i = 0; i < shape->count; i++) {
        const int block = (i + turn) % shape->count;
        if (shape->constructor == STRUCT) {
            child = draw_one(draw, depth - 1);
        }
        const int unit = by_child ? child.extent : 1;
        const int length = alike && i > 0 ? shape->lengths[0] : drawn_from(draw, 1, 2);
        const int size = by_child ? length : length * child.extent;
        /* the block begins at its displacement plus its child's lower bound */
        const int begin = by_child ? next : next - child.begin;
        shape->lengths[alike ? 0 : block] = length;
        shape->displacements[block] = begin + shift;
        shape->children[shape->constructor == STRUCT ? block : 0] = child.shape;
        const int low = (begin + shift) * unit + child.begin;
        least = i == 0 || low < least ? low : least;
        most = i == 0 || low + length * child.extent > most ? low + length * child.extent : most;
        place.elements += length * child.elements;
        next += size + drawn_from(draw, 0, 2);
    }
    place.begin = least;
    place.extent = most - least;
    if (shape->constructor == STRUCT) {
        /* if some children have bounds from MPI_Type_create_resized, only these bounds count (MPI
         * 4.1, 5.1.7), so the bounds of the whole are set here */
        struct shape *whole = node(draw, RESIZED);
        whole->children[0] = shape;
        whole->displacements[0] = place.begin;
        whole->displacements[1] = place.extent;
        place.shape = whole;
    }
    return place;
}

static struct place draw_vector(struct draw *draw, struct shape *shape, struct place child)
{
    struct place place = {.shape = shape};
    const bool by_child = shape->constructor == VECTOR;
    const int unit = by_child ? child.extent : 1;
    shape->count = drawn_from(draw, 2, 3);
    shape->lengths[0] = drawn_from(draw, 1, 2);
    const int size = shape->lengths[0] * (by_child ? 1 : child.extent);
    shape->displacements[0] = (size + drawn_from(draw, 0, 2)) * (drawn_from(draw, 0, 3) ? 1 : -1);
    const int far = (shape->count - 1) * shape->displacements[0] * unit;
    place.begin = child.begin + (far < 0 ? far : 0);
    place.extent = (far < 0 ? -far : far) + shape->lengths[0] * child.extent;
    place.elements = shape->count * shape->lengths[0] * child.elements;
    return place;
}

static struct place draw_one(struct draw *draw, int depth)
{
    static const enum constructor all[] = {CONTIGUOUS, VECTOR,         HVECTOR, INDEXED,
                                           HINDEXED,   INDEXED_BLOCK,  STRUCT,  RESIZED,
                                           DUP,        HINDEXED_BLOCK, ELEMENT};
    /* a node has at most BLOCKS_MAX - 1 children, and each child has its own children */
    const bool is_last = depth == 0 || draw->drawn->used > NODES_MAX / 3;
    const int most = (int)(sizeof all / sizeof all[0]) - (depth == DEPTH ? 2 : 1);
    const enum constructor constructor = is_last ? ELEMENT : all[drawn_from(draw, 0, most)];
    struct shape *shape = node(draw, constructor);
    struct place place = {.shape = shape, .extent = 1, .elements = 1};
    if (constructor == ELEMENT) {
        return place;
    }
    const struct place child = constructor == STRUCT ? place : draw_one(draw, depth - 1);
    shape->children[0] = child.shape;
    place = child;
    place.shape = shape;
    if (constructor == CONTIGUOUS) {
        shape->count = drawn_from(draw, 1, 3);
        place.extent *= shape->count;
        place.elements *= shape->count;
    } else if (constructor == VECTOR || constructor == HVECTOR) {
        place = draw_vector(draw, shape, child);
    } else if (constructor == RESIZED) {
        place.begin -= drawn_from(draw, 0, 2);
        place.extent += child.begin - place.begin + drawn_from(draw, 0, 2);
        shape->displacements[0] = place.begin;
        shape->displacements[1] = place.extent;
    } else if (constructor != DUP) {
        place = draw_blocks(draw, shape, child, depth);
    }
    return place;
}

const struct shape *shape_draw(struct drawn *drawn, uint64_t seed)
{
    struct draw draw = {.drawn = drawn, .state = mixed(seed, 0)};
    struct place place;
    do {
        drawn->used = 0;
        place = draw_one(&draw, DEPTH);
    } while (place.elements > ITEM_ELEMENTS_MAX);
    return place.shape;
}
