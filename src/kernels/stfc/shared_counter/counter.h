/* A shared counter in a window, and the algorithms that take the next number from it. */
#ifndef ONESIDED_COUNTER_H
#define ONESIDED_COUNTER_H

#include <mpi.h>
#include <stdint.h>

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
    int64_t own_count; /* numbers this rank has got: its part of the counter, for mpi2_* */
    int64_t expected;  /* compare_and_swap: what the counter held when last seen, as far as known */
    int64_t falls;     /* compare_and_swap: how often the counter was seen below that */
    struct verification own_element;   /* mpi2_array: this rank's, read back */
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
    /* after each access, where nobody computes; or NULL */
    void (*read_back)(struct counter *counter);
    bool sees_falls; /* it looks whether the counter was ever below what it held */
};
extern const struct algorithm algorithms[6];

#endif
