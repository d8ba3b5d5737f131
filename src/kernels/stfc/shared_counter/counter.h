/* A shared counter in a window, and the algorithms that take the next number from it. */
#ifndef ONESIDED_COUNTER_H
#define ONESIDED_COUNTER_H

#include <mpi.h>
#include <stdint.h>

#include "harness/launch.h"
#include "harness/verification.h"
#include "rma/window.h"

#define TARGET 0

struct counter {
    const struct algorithm *algorithm;
    struct window opened;
    MPI_Win window; /* its handle */
    MPI_Aint begin; /* the displacement of its first element, in bytes */
    MPI_Datatype type;
    int element_bytes;
    int rank, ranks;
    int64_t own_count; /* numbers that this rank has got: its part of the counter, for mpi2_* */
    int64_t expected;  /* compare_and_swap: the counter's value when this rank last saw it */
    int64_t falls;     /* compare_and_swap: how often the counter was below `expected` */
    struct verification own_element;   /* mpi2_array: this rank's element, read back */
    void *operand, *compared, *result; /* local elements of MPI calls in flight */
    /* mpi2_tree: the nodes on the way from this rank's leaf to the root, and their siblings */
    int levels;
    MPI_Datatype path, siblings;
};

/* How the next number is taken. */
struct algorithm {
    const char *name;
    int (*elements)(int ranks);                      /* size of the window */
    void (*begin)(struct counter *counter);          /* before the first access */
    int64_t (*next)(struct counter *counter);        /* one access */
    void (*end)(struct counter *counter);            /* after the last access */
    int64_t (*value)(const struct counter *counter); /* the counter, from memory, at the target */
    /* after each access, if nobody computes; or NULL */
    void (*read_back)(struct counter *counter);
    bool sees_falls; /* checks whether the counter was ever below an earlier value */
};
extern const struct algorithm algorithms[6];

/* Collective: open the window with a counter of zero. The target writes the zero inside an
 * exclusive epoch on itself, synchronises both copies of the window (one in the unified model), and
 * ends the epoch. Until the final value is read, it holds locks only for its own accesses, so
 * nobody waits for it. */
void counter_open(struct counter *counter, const struct launch *launch, struct record *record,
                  const struct flavor *flavor);
/* Collective. */
void counter_close(struct counter *counter);

/* At the target, after a barrier that follows all epochs of all ranks, so that all accesses are
 * complete. The exclusive epoch and MPI_Win_sync make them visible to loads, in either memory
 * model. */
int64_t counter_final_value(struct counter *counter);

#endif
