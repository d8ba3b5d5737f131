/* A two-dimensional transform: its matrix, and the pieces in which blocks go from rank to rank. */
#ifndef ONESIDED_TRANSFORM_H
#define ONESIDED_TRANSFORM_H

#include <mpi.h>

#include "harness/launch.h"
#include "redbook/transpose/fft.h"
#include "rma/window.h"

/* How a block of columns x columns elements is cut, at its source or at its destination. In rows
 * its elements follow each other as those of the transposed block do in columns: a block that
 * leaves in one order and arrives in the other is transposed by MPI. */
enum shape { BLOCK, BLOCK_BY_ROWS, COLUMNS, ROWS, SHAPES };

struct pieces {
    int pieces; /* of a block, a message each */
    int count;  /* of a piece, of the type */
    MPI_Datatype
        type;   /* of a block the extent is a column's part, so that blocks follow each other */
    int stride; /* elements between two pieces */
};

struct transform;

/* A transform's time, and its parts. */
enum spent { TOTAL, COMMUNICATION, LOCAL, FOURIER, SPENT };

/* How a matrix is transposed: a row of the axis. */
struct interface {
    const char *name;
    enum { NO_WINDOW, FENCE, LOCK_ALL } epochs;
    enum shape sent, received;
    bool is_in_place;  /* a block arrives where the one for the same rank was */
    int barrier_every; /* steps; 0: none */
    /* All ranks: THE TIMED COMMUNICATION. With fences an epoch is open before it, none after it. */
    void (*go)(const struct transform *transform);
};

struct transform {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct interface *interface;
    int rank, ranks;
    int order;   /* of the matrix */
    int columns; /* of it that a rank has, which is also the order of a block */
    struct fft fft;
    complex_number *own;      /* this rank's columns, in Fortran's order */
    complex_number *received; /* the same, or what blocks are received into */
    struct pieces pieces[SHAPES];
    complex_number *spare; /* a block */
    char *packed[2];       /* two blocks, sent and received; or the buffer of buffered sends */
    int packed_bytes;      /* of each */
    int *counts, *begins;  /* for MPI_Alltoallw, by rank; begins in bytes */
    MPI_Datatype *types[2];
    struct window window;
    uint64_t sample; /* from 1 */
    double spent_s[SPENT];
    struct series *series[SPENT];
    struct verification found;
};

bool transform_open(struct transform *transform);
void transform_close(struct transform *transform);

/* The matrix of a sample. The first has the source's, 1 at the first place and 0 elsewhere; the
 * others have an element on each column, so that every block that is exchanged has elements of its
 * own, and one more at another place. Nothing is where blocks go, before they do. */
void transform_fill(struct transform *transform);

/* Compare the result with the transform of that matrix, of which the formula is known. */
void transform_compare(struct transform *transform);

/* 32 bits of this rank's part of the result: of one matrix all ways of exchange leave the same. */
uint32_t transform_checksum(const struct transform *transform);

/* Transpose the blocks that MPI did not, each where it is. */
void transform_blocks(const struct transform *transform);

/* ---- For the timed communication, of which they become a part ---- */

/* Ranks meet in pairs, each once: along the edges and diagonals of a cube where they are a power
 * of two, as in the source. A rank whose partner is itself has nothing to do in that step. */
static inline bool is_cube(const struct transform *transform)
{
    return (transform->ranks & (transform->ranks - 1)) == 0;
}

static inline int first_step(const struct transform *transform)
{
    return is_cube(transform) ? 1 : 0;
}

static inline int partner_of(const struct transform *transform, int step)
{
    const int rank = transform->rank, ranks = transform->ranks;
    return is_cube(transform) ? rank ^ step : (step - rank + ranks) % ranks;
}

/* The block for a rank, and in place the one from it. */
static inline complex_number *block_of(const struct transform *transform, int rank)
{
    return transform->own + rank * transform->columns;
}

static inline const struct pieces *sent_pieces(const struct transform *transform)
{
    return &transform->pieces[transform->interface->sent];
}

static inline const struct pieces *received_pieces(const struct transform *transform)
{
    return &transform->pieces[transform->interface->received];
}

#endif
