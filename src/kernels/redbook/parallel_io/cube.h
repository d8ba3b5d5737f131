/* A cube of ints, a block of it at each rank, and the file that has the whole of it. */
#ifndef ONESIDED_CUBE_H
#define ONESIDED_CUBE_H

#include <mpi.h>
#include <stdint.h>

#include "harness/storage.h"

#define DIMENSIONS 3 /* the last one is the fastest in the file */

/* How the cube is cut. */
struct cut {
    const char *name;
    bool in_all; /* in all dimensions, most often in the fastest one; else in the slowest alone */
};

struct cube {
    const struct launch *launch;
    const struct cell *cell;
    const struct cut *cut;
    bool by_darray;        /* views are distributed arrays, whose first blocks are the largest */
    int side;              /* ints */
    int parts[DIMENSIONS]; /* ranks along each dimension */
    int begin[DIMENSIONS]; /* of this rank's block */
    int size[DIMENSIONS];  /* of it */
    int elements;          /* of it */
    int run;               /* elements of it that follow each other in the file, always so many */
    int32_t *block;        /* of this rank */
    int32_t *whole;        /* at rank 0 */
    MPI_Datatype *views;   /* by rank: its block in the whole */
    uint64_t sample;       /* from 1; its values are its own */
    struct verification file; /* what was read back of it */
    struct verification blocks;
};

/* Collective: cut the cube; where there are too few ints, the record says so, the same on all
 * ranks, and the result is false. */
bool cube_open(struct cube *cube, const struct launch *launch, const struct cell *cell,
               struct record *record, bool by_darray);
void cube_close(struct cube *cube);

long long cube_bytes(const struct cube *cube);

/* Where an element of this rank's block is in the file, in ints. */
long long cube_place(const struct cube *cube, int element);

/* This rank's block gets the values of the sample, with the fault that a test wants; or nothing of
 * any sample. */
void cube_fill(struct cube *cube);
void cube_clear(struct cube *cube);

/* The file gets those of the whole cube; returns 0, or what errno says. */
int cube_write_file(const struct cube *cube, const struct stored *stored);

/* Compare the whole file, or this rank's block, with the values of the sample. */
void cube_check_file(struct cube *cube, const struct stored *stored);
void cube_check_block(struct cube *cube);

/* The name of a rank's own file, in PATH_MAX characters; and compare what the files of all ranks
 * have, and the sum of their lengths. */
void cube_own_path(const struct stored *stored, int rank, char *path);
void cube_check_own_files(struct cube *cube, const struct stored *stored);

#endif
