/* Operations: what an origin does to its target's window, and the timed loop of each. */
#ifndef ONESIDED_OPERATION_H
#define ONESIDED_OPERATION_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "rma/layout.h"
#include "rma/synchronisation.h"

enum effect { KEEPS, REPLACES, ADDS }; /* on the target's elements */

/* An origin's accesses to one target. The operation of each slot has its own payload, result and
 * place at the target. */
struct transfer {
    struct epoch epoch;
    MPI_Aint displacement;   /* of the first slot, in bytes */
    MPI_Aint slot_bytes;     /* from a slot to the next, at the target */
    struct layout_type type; /* of a slot's data at the target */
    int elements;            /* of a slot here, eight bytes each */
    int64_t *payload;        /* the data to put or accumulate */
    int64_t *result;         /* the fetched data */
    int64_t *compared;       /* what compare_and_swap compares with */
    MPI_Request request;
};

/* When the parts of an access ended, at the origin. */
struct access {
    double begin_s;     /* before the first timed call */
    double begun_s;     /* the epoch is begun */
    double issued_s;    /* the operation's call has returned */
    double waited_s;    /* its request, if it has one, is complete */
    double completed_s; /* the synchronisation is complete */
};

struct operation {
    const char *name;
    enum effect effect;
    bool fetches;
    bool one_element;
    bool request_based;
    bool fails; /* compare_and_swap: compares with a value that the target does not have */
    /* THE TIMED LOOP of this operation: an operation on each of the first `count` slots. `apart`:
     * with a stamp after each part of the last operation. */
    struct access (*access)(struct transfer *transfer, long long count, bool apart);
};
extern const struct operation operations[11];

/* A row by its name, which must be one of them. */
const struct operation *operation_named(const char *name);

/* A row of a kernel's axes. */
#define OPERATION_AXIS(help_, fallback_) CHOICE_AXIS("operation", (help_), (fallback_), operations)

/* An operation that replaces the target's elements and fetches nothing is read back for
 * verification if the target cannot look meanwhile. */
bool is_read_back(const struct operation *operation);

/* At an origin, untimed, in an epoch of the transfer's kind: get elements from its displacement
 * on. */
void transfer_read_back(const struct transfer *transfer, int64_t *copy, int elements);

#endif
