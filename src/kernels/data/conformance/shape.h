/* Shapes: datatypes as trees of constructors, and where their elements are.
 *
 * A tree is read three times, by code that shares only the tree: as a datatype of MPI, as the
 * displacements of its elements in their order (the typemap of MPI 4.1, 5.1), and as data
 * (cell_data.c). All lengths of a tree are in extents of the element, so that a tree is right for
 * each element, and no extent is rounded up to an alignment. */
#ifndef ONESIDED_CONFORMANCE_SHAPE_H
#define ONESIDED_CONFORMANCE_SHAPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rma/element.h"

#define BLOCKS_MAX 4

enum constructor {
    ELEMENT,
    CONTIGUOUS,
    VECTOR,
    HVECTOR,
    INDEXED,
    HINDEXED,
    INDEXED_BLOCK,
    HINDEXED_BLOCK,
    STRUCT,
    RESIZED,
    SUBARRAY,
    DUP
};

struct shape {
    enum constructor constructor;
    int count;               /* of blocks; SUBARRAY: of rows */
    int lengths[BLOCKS_MAX]; /* of each block, in children; VECTOR, HVECTOR, *_BLOCK: [0] of all;
                                SUBARRAY: columns of the part, and of the whole */
    /* VECTOR, HVECTOR: the stride; INDEXED*, HINDEXED*, STRUCT: of each block; RESIZED: lower bound
     * and extent; SUBARRAY: the first row and column. VECTOR, INDEXED* and SUBARRAY count in
     * extents of the child, the others in extents of the element. */
    int displacements[BLOCKS_MAX];
    const struct shape *children[BLOCKS_MAX]; /* STRUCT: of each block; else the first is of all */
};

/* The typemap of one item: displacements in bytes, in the order in which elements are moved. */
struct typemap {
    MPI_Aint *at;
    size_t elements;
    MPI_Aint lower, extent;   /* as MPI_Type_get_extent says */
    MPI_Aint lowest, highest; /* of all elements' bytes; `highest` is not included */
};

/* Return the typemap; free its displacements after use. */
struct typemap typemap_of(const struct shape *shape, const struct element *element);

/* Return a committed datatype. */
MPI_Datatype datatype_of(const struct shape *shape, const struct element *element);

/* A layout: a row of an axis. */
struct layout {
    const char *name;
    const struct shape *shape; /* NULL: drawn from the seed */
    bool is_absolute;          /* relative to MPI_BOTTOM */
};
enum { LAYOUTS = 18, LAYOUTS_OF_TARGETS = 16 };
extern const struct layout layouts[LAYOUTS];

/* Room for a random tree. */
enum { NODES_MAX = 36 };
struct drawn {
    struct shape nodes[NODES_MAX];
    int used;
};

/* Draw a random tree: constructors inside each other, 1 to 64 elements, no two at one place. */
const struct shape *shape_draw(struct drawn *drawn, uint64_t seed);

/* Numbers that look random, and are the same on all ranks. */
uint64_t mixed(uint64_t a, uint64_t b);

#endif
