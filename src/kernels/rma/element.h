/* Elements: the predefined datatypes, and what each operator makes of two of their values, in plain
 * C without a call of MPI. */
#ifndef ONESIDED_ELEMENT_H
#define ONESIDED_ELEMENT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELEMENT_BYTES_MAX 32

enum operator_kind {
    SUM,
    PROD,
    MAX,
    MIN,
    LAND,
    LOR,
    LXOR,
    BAND,
    BOR,
    BXOR,
    MAXLOC,
    MINLOC,
    REPLACE,
    NO_OP,
    OPERATIONS
};

struct reduction {
    const char *name;
    MPI_Op handle;
    const char *c_name; /* of the handle */
    enum operator_kind operation;
};
extern const struct reduction reductions[OPERATIONS];

struct element {
    const char *name;
    MPI_Datatype handle;
    const char *c_name; /* of the handle */
    size_t bytes;       /* its extent */
    /* The bytes of a value: from 0 to the gap, and from the end of the gap. The content of a gap is
     * not defined: MPI may move it or not. */
    size_t gap_begin, gap_end;
    unsigned operations; /* a bit for each allowed operator (MPI 4.1, 6.9.2 and 6.9.4) */
    /* Leave a small number, and for a pair its index, as a value. */
    void (*set)(void *place, long long number, int index);
    /* target = target (operation) origin; target may be at any address. */
    void (*apply)(enum operator_kind operation, void *target, const void *origin);
};
enum { ELEMENTS = 20 };
extern const struct element elements[ELEMENTS];

/* A row by its name, which must be one of them. */
const struct element *element_named(const char *name);

bool is_allowed(const struct element *element, enum operator_kind operation);

/* Compare two values without their gaps. */
bool is_same(const struct element *element, const void *one, const void *other);

/* Does compare_and_swap allow this element? (MPI 4.1, 12.3.4) */
bool is_swappable(const struct element *element);

#endif
