/* A cube of ints: each rank has a block of it, and the file has the whole cube. */
#ifndef ONESIDED_CUBE_H
#define ONESIDED_CUBE_H

#include <mpi.h>
#include <stdint.h>

#include "harness/storage.h"

#define DIMENSIONS 3 /* the last is contiguous in the file */

/* How the cube is cut. */
struct cut {
    const char *name;
    bool in_all; /* in all dimensions, most in the contiguous one; else only in the slowest */
};

struct cube {
    const struct launch *launch;
    const struct cell *cell;
    const struct cut *cut;
    bool by_darray;           /* views are distributed arrays with the largest blocks first */
    int side;                 /* ints */
    int parts[DIMENSIONS];    /* ranks along each dimension */
    int begin[DIMENSIONS];    /* of this rank's block */
    int size[DIMENSIONS];     /* of it */
    int elements;             /* of it */
    int run;                  /* elements of each contiguous run in the file */
    int32_t *block;           /* of this rank */
    int32_t *whole;           /* at rank 0 */
    MPI_Datatype *views;      /* by rank: its block in the cube */
    uint64_t sample;          /* from 1; each has its own values */
    struct verification file; /* the file as it was read back */
    struct verification blocks;
};

/* Collective: cut the cube. False, with the reason in the record, the same on all ranks, if there
 * are too few ints. */
bool cube_open(struct cube *cube, const struct launch *launch, const struct cell *cell,
               struct record *record, bool by_darray);
void cube_close(struct cube *cube);

long long cube_bytes(const struct cube *cube);

/* Where an element of this rank's block is in the file, in ints. */
long long cube_place(const struct cube *cube, int element);

/* Set this rank's block to the values of the sample, with a fault for tests; or to zeros, which no
 * sample has. */
void cube_fill(struct cube *cube);
void cube_clear(struct cube *cube);

/* Write the values of the whole cube to the file; returns 0 or errno. */
int cube_write_file(const struct cube *cube, const struct stored *stored);

/* Compare the whole file, or this rank's block, with the values of the sample. */
void cube_check_file(struct cube *cube, const struct stored *stored);
void cube_check_block(struct cube *cube);

/* The name of a rank's own file, in PATH_MAX characters; compare the own files of all ranks, and
 * the sum of their lengths. */
void cube_own_path(const struct stored *stored, int rank, char *path);
void cube_check_own_files(struct cube *cube, const struct stored *stored);

#endif
