/* A two-dimensional transform: its matrix, and the pieces in which blocks go from rank to rank. */
#ifndef ONESIDED_TRANSFORM_H
#define ONESIDED_TRANSFORM_H

#include <mpi.h>

#include "harness/launch.h"
#include "redbook/transpose/fft.h"
#include "rma/window.h"

/* How a block of columns x columns elements is cut, at its source or at its destination. A block
 * that leaves in columns and arrives in rows, or the other way round, is transposed by MPI. */
enum shape { BLOCK, BLOCK_BY_ROWS, COLUMNS, ROWS, SHAPES };

struct pieces {
    int pieces;        /* of a block; each is a message */
    int count;         /* elements of the type in a piece */
    MPI_Datatype type; /* a block's extent is one column's part, so that blocks follow each other */
    int stride;        /* elements between two pieces */
};

struct transform;

/* A transform's time, and its parts. */
enum spent { TOTAL, COMMUNICATION, LOCAL, FOURIER, SPENT };

/* How a matrix is transposed: a row of the axis. */
struct interface {
    const char *name;
    enum { NO_WINDOW, FENCE, LOCK_ALL } epochs;
    enum shape sent, received;
    bool is_in_place;  /* the block from a rank replaces the block for this rank */
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
    int columns; /* of the matrix at a rank; also the order of a block */
    struct fft fft;
    complex_number *own;      /* this rank's columns, in Fortran's order */
    complex_number *received; /* equals `own`, or a second matrix for received blocks */
    struct pieces pieces[SHAPES];
    complex_number *spare; /* a block */
    char *packed[2];       /* a sent and a received block; or the buffer of buffered sends */
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

/* Set the matrix of a sample. The first is the source's: 1 at the first place and 0 elsewhere. Each
 * other matrix has an element that is not zero in each column, so that no exchanged block is zero,
 * and one more at another place. Places for received blocks are cleared. */
void transform_fill(struct transform *transform);

/* Compare the result with the formula for the transform of the sample's matrix. */
void transform_compare(struct transform *transform);

/* 32 bits of this rank's part of the result; for one matrix all interfaces must agree. */
uint32_t transform_checksum(const struct transform *transform);

/* Transpose in place the blocks that MPI did not transpose. */
void transform_blocks(const struct transform *transform);

/* ---- Inlined into the timed communication ---- */

/* In each step ranks form pairs, and each pair occurs once. If the number of ranks is a power of
 * two, partners follow from an exclusive or, as in the source. A rank whose partner is itself does
 * nothing in this step. */
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

/* The block for a rank; in place also the block from this rank. */
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
