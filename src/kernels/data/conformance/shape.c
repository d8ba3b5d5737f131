/* Shapes: datatypes as trees of constructors, and where their elements are. */
#include "data/conformance/shape.h"

#include <stdlib.h>

#include "harness/memory.h"
#include "mpi/checked.h"

/* ---- The typemap: nothing here asks MPI ---- */

/* A block: `length` children, one after the other, from the byte `begin` on. */
typedef void (*block_visit)(void *state, const struct shape *child, int length, MPI_Aint begin);

struct bounds {
    const struct element *element;
    MPI_Aint lower, upper;
    bool is_empty;
};

struct walk {
    const struct element *element;
    MPI_Aint *at; /* NULL: count only */
    size_t count;
    MPI_Aint begin; /* of the item */
};

static struct bounds bounds_of(const struct shape *shape, const struct element *element);

static MPI_Aint extent_of(const struct shape *shape, const struct element *element)
{
    const struct bounds bounds = bounds_of(shape, element);
    return bounds.upper - bounds.lower;
}

/* Call `visit` for each block of a shape, in the order of its typemap. */
static void visit_blocks(const struct shape *shape, const struct element *element,
                         block_visit visit, void *state)
{
    const MPI_Aint unit = (MPI_Aint)element->bytes;
    const struct shape *child = shape->children[0];
    const MPI_Aint extent = child == NULL ? unit : extent_of(child, element);
    const int *at = shape->displacements;
    switch (shape->constructor) {
    case ELEMENT:
        break;
    case CONTIGUOUS:
        visit(state, child, shape->count, 0);
        break;
    case RESIZED:
    case DUP:
        visit(state, child, 1, 0);
        break;
    case SUBARRAY:
        for (int row = 0; row < shape->count; row++) {
            visit(state, child, shape->lengths[0],
                  extent * ((at[0] + row) * shape->lengths[1] + at[1]));
        }
        break;
    case VECTOR:
    case HVECTOR:
        for (int block = 0; block < shape->count; block++) {
            visit(state, child, shape->lengths[0],
                  block * at[0] * (shape->constructor == VECTOR ? extent : unit));
        }
        break;
    default:
        for (int block = 0; block < shape->count; block++) {
            const bool by_child =
                shape->constructor == INDEXED || shape->constructor == INDEXED_BLOCK;
            const bool alike =
                shape->constructor == INDEXED_BLOCK || shape->constructor == HINDEXED_BLOCK;
            visit(state, shape->constructor == STRUCT ? shape->children[block] : child,
                  shape->lengths[alike ? 0 : block], at[block] * (by_child ? extent : unit));
        }
    }
}

static void widen(void *state, const struct shape *child, int length, MPI_Aint begin)
{
    struct bounds *bounds = state;
    const struct bounds own = bounds_of(child, bounds->element);
    if (length == 0) {
        return;
    }
    const MPI_Aint lower = begin + own.lower;
    const MPI_Aint upper = begin + (length - 1) * (own.upper - own.lower) + own.upper;
    bounds->lower = bounds->is_empty || lower < bounds->lower ? lower : bounds->lower;
    bounds->upper = bounds->is_empty || upper > bounds->upper ? upper : bounds->upper;
    bounds->is_empty = false;
}

static struct bounds bounds_of(const struct shape *shape, const struct element *element)
{
    const MPI_Aint unit = (MPI_Aint)element->bytes;
    const int *at = shape->displacements;
    struct bounds bounds = {.element = element, .is_empty = true};
    if (shape->constructor == ELEMENT) {
        bounds.upper = unit;
    } else if (shape->constructor == RESIZED) {
        bounds.lower = at[0] * unit;
        bounds.upper = (at[0] + at[1]) * unit;
    } else if (shape->constructor == SUBARRAY) {
        /* the extent is the extent of the whole array */
        bounds.upper = (MPI_Aint)(at[0] + shape->count) * shape->lengths[1] *
                       extent_of(shape->children[0], element);
    } else {
        visit_blocks(shape, element, widen, &bounds);
    }
    return bounds;
}

static void walk_shape(struct walk *walk, const struct shape *shape);

static void walk_block(void *state, const struct shape *child, int length, MPI_Aint begin)
{
    struct walk *walk = state;
    const MPI_Aint outer = walk->begin;
    for (int i = 0; i < length; i++) {
        walk->begin = outer + begin + i * extent_of(child, walk->element);
        walk_shape(walk, child);
    }
    walk->begin = outer;
}

static void walk_shape(struct walk *walk, const struct shape *shape)
{
    if (shape->constructor != ELEMENT) {
        visit_blocks(shape, walk->element, walk_block, walk);
        return;
    }
    if (walk->at != NULL) {
        walk->at[walk->count] = walk->begin;
    }
    walk->count++;
}

struct typemap typemap_of(const struct shape *shape, const struct element *element)
{
    struct walk walk = {.element = element};
    struct typemap map = {0};
    const struct bounds bounds = bounds_of(shape, element);
    walk_shape(&walk, shape);
    map.at = walk.at = allocate(walk.count + 1, sizeof map.at[0]);
    walk.count = 0;
    walk_shape(&walk, shape);
    map.elements = walk.count;
    map.lower = bounds.lower;
    map.extent = bounds.upper - bounds.lower;
    for (size_t i = 0; i < map.elements; i++) {
        const MPI_Aint end = map.at[i] + (MPI_Aint)element->bytes;
        map.lowest = i == 0 || map.at[i] < map.lowest ? map.at[i] : map.lowest;
        map.highest = i == 0 || end > map.highest ? end : map.highest;
    }
    return map;
}

/* ---- The datatype ---- */

static MPI_Datatype built(const struct shape *shape, const struct element *element);

static void build_struct(const struct shape *shape, const struct element *element,
                         const MPI_Aint *bytes, MPI_Datatype *type)
{
    MPI_Datatype children[BLOCKS_MAX];
    for (int block = 0; block < shape->count; block++) {
        children[block] = built(shape->children[block], element);
    }
    CHECKED(MPI_Type_create_struct(shape->count, shape->lengths, bytes, children, type));
    for (int block = 0; block < shape->count; block++) {
        CHECKED(MPI_Type_free(&children[block]));
    }
}

/* Each call makes a new datatype, which the caller frees. */
static MPI_Datatype built(const struct shape *shape, const struct element *element)
{
    const MPI_Aint unit = (MPI_Aint)element->bytes;
    const int *at = shape->displacements;
    const int *lengths = shape->lengths;
    const int count = shape->count;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Datatype child = MPI_DATATYPE_NULL;
    MPI_Aint bytes[BLOCKS_MAX];
    for (int i = 0; i < BLOCKS_MAX; i++) {
        bytes[i] = at[i] * unit;
    }
    if (shape->constructor == ELEMENT) {
        CHECKED(MPI_Type_dup(element->handle, &type));
        return type;
    }
    if (shape->constructor == STRUCT) {
        build_struct(shape, element, bytes, &type);
        return type;
    }
    child = built(shape->children[0], element);
    switch (shape->constructor) {
    case CONTIGUOUS:
        CHECKED(MPI_Type_contiguous(count, child, &type));
        break;
    case VECTOR:
        CHECKED(MPI_Type_vector(count, lengths[0], at[0], child, &type));
        break;
    case HVECTOR:
        CHECKED(MPI_Type_create_hvector(count, lengths[0], bytes[0], child, &type));
        break;
    case INDEXED:
        CHECKED(MPI_Type_indexed(count, lengths, at, child, &type));
        break;
    case HINDEXED:
        CHECKED(MPI_Type_create_hindexed(count, lengths, bytes, child, &type));
        break;
    case INDEXED_BLOCK:
        CHECKED(MPI_Type_create_indexed_block(count, lengths[0], at, child, &type));
        break;
    case HINDEXED_BLOCK:
        CHECKED(MPI_Type_create_hindexed_block(count, lengths[0], bytes, child, &type));
        break;
    case RESIZED:
        CHECKED(MPI_Type_create_resized(child, bytes[0], bytes[1], &type));
        break;
    case SUBARRAY: {
        const int sizes[] = {at[0] + count, lengths[1]};
        const int parts[] = {count, lengths[0]};
        CHECKED(MPI_Type_create_subarray(2, sizes, parts, at, MPI_ORDER_C, child, &type));
        break;
    }
    default:
        CHECKED(MPI_Type_dup(child, &type));
    }
    CHECKED(MPI_Type_free(&child));
    return type;
}

MPI_Datatype datatype_of(const struct shape *shape, const struct element *element)
{
    MPI_Datatype type = built(shape, element);
    CHECKED(MPI_Type_commit(&type));
    return type;
}
