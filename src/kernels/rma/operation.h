/* Operations: what an origin does to its target's window, and the timed loop of each. */
#ifndef ONESIDED_OPERATION_H
#define ONESIDED_OPERATION_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "rma/layout.h"
#include "rma/synchronisation.h"

enum effect { KEEPS, REPLACES, ADDS }; /* what becomes of the target's elements */

/* An origin's accesses to one target. The operation of each slot takes a payload, a result and a
 * place at the target of its own. */
struct transfer {
    struct epoch epoch;
    MPI_Aint displacement;   /* of the first slot, in bytes */
    MPI_Aint slot_bytes;     /* from a slot to the next, at the target */
    struct layout_type type; /* of what is accessed in a slot of the target */
    int elements;            /* of a slot here, eight bytes each */
    int64_t *payload;        /* what is put or accumulated */
    int64_t *result;         /* what is fetched */
    int64_t *compared;       /* what compare_and_swap compares with */
    MPI_Request request;
};

/* When each part of an access was over, at the origin. */
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
    bool fails; /* compare_and_swap: compares with what the target does not hold */
    /* THE TIMED LOOP of this operation: an operation on each of the first `count` slots, with a
     * stamp after each part of the last one where the parts are asked for `apart`. */
    struct access (*access)(struct transfer *transfer, long long count, bool apart);
};
extern const struct operation operations[11];

/* A row by its name, which must be one of them. */
const struct operation *operation_named(const char *name);

/* A row of a kernel's axes. */
#define OPERATION_AXIS(help_, fallback_)                                                           \
    {.name = "operation",                                                                          \
     .help = (help_),                                                                              \
     .kind = AXIS_CHOICE,                                                                          \
     .fallback = (fallback_),                                                                      \
     .choices = TABLE(operations)}

/* Whatever replaces the target's elements and fetches nothing has to be read back to be verified,
 * where the target cannot look meanwhile. */
bool is_read_back(const struct operation *operation);

/* At an origin, untimed, in an epoch of the transfer's kind: get so many elements from its
 * displacement on. */
void transfer_read_back(const struct transfer *transfer, int64_t *copy, int elements);

#endif
