/* The world: the ranks of a launch, and the collective calls that the harness makes of them.
 *
 * The library behind it is MPI (mpi/world.c) or OpenSHMEM (openshmem/world.c): a build has one of
 * the two. All functions but the first four and world_abort are collective. */
#ifndef ONESIDED_WORLD_H
#define ONESIDED_WORLD_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/thread_level.h"

/* The library: its standard and version of it, the MPI ABI if it has one, its own version. */
struct world_library {
    const char *standard;       /* "MPI" or "OpenSHMEM" */
    char standard_version[32];  /* "4.1" */
    char abi[32];               /* empty: none */
    char version[16384];        /* what the library says of itself; may have line ends */
    const char *first_function; /* that a program calls: its file is the library */
};
struct world_library world_library(void);

int world_rank(void);
int world_ranks(void);

_Noreturn void world_abort(int code);

/* Start the library; returns the thread level that it provides. */
enum thread_level world_start(enum thread_level required);

/* End the library; an error of it ends the launch. */
void world_end(void);

void world_barrier(void);

/* All ranks get what rank 0 has. */
void world_broadcast(void *data, size_t size_bytes);

/* All ranks get the parts of all, size_bytes each, in the order of the ranks. */
void world_gather(const void *own, void *all, size_t size_bytes);

/* Rank 0 gets texts of different lengths, one after the other; `lengths` are those of all ranks. */
void world_gather_texts(const char *own, char *all, const size_t *lengths);

double world_greatest(double own);

/* Before anything is timed: checked messages between any two ranks. The first use of memory that
 * two ranks share is slow. */
void world_warm_up(void);

#endif
