/* Operands: what an accumulate takes and what it finds, with values and a model in plain C.
 *
 * Each origin has slots at the target, one for each operation of a burst. They get new
 * values before a burst. After it the target compares every byte, and an origin what it fetched. */
#ifndef ONESIDED_OPERATORS_OPERAND_H
#define ONESIDED_OPERATORS_OPERAND_H

#include "harness/launch.h"
#include "rma/element.h"

struct operand {
    const char *name;
    const char *element; /* as in rma/element.h */
    int parts;           /* elements of an operand */
    int stride;          /* bytes from one to the next; those between must stay as they are */
};
enum { OPERANDS = 4 };
extern const struct operand operands[OPERANDS];

/* The operands of a cell, as this rank knows them. */
struct slots {
    const struct launch *launch;
    const struct cell *cell;
    const struct operand *operand;
    const struct element *element;
    const struct reduction *reduction;
    bool fetches;
    int count;       /* slots of an origin */
    int origins;     /* ranks from 1 */
    uint64_t sample; /* of the values that are there */
    char *sent;      /* at an origin */
    char *result;    /* at an origin */
    struct verification at_target, at_origin;
};

const struct element *element_of(const struct operand *operand);
int operand_bytes(const struct operand *operand);
MPI_Datatype operand_make_type(const struct operand *operand);
void operand_free_type(const struct operand *operand, MPI_Datatype *type);

void slots_allocate(struct slots *slots);
void slots_free(struct slots *slots);

/* New values for a burst; `memory`: at the target, that of all origins' slots. */
void slots_renew(struct slots *slots, long long burst, char *memory);

/* What has become of them. */
void slots_check(struct slots *slots, long long burst, char *memory);

#endif
