/* The model: the expected values of a window, and of the data fetched from it, with no call of
 * MPI. */
#ifndef ONESIDED_CONFORMANCE_MODEL_H
#define ONESIDED_CONFORMANCE_MODEL_H

#include "data/conformance/plan.h"
#include "harness/verification.h"

/* Elements without gaps, one operation after the other. */
struct model {
    unsigned char *before;  /* by slot: the target before the first operation */
    unsigned char *state;   /* the target after the last operation */
    unsigned char *sent;    /* by this rank's operations */
    unsigned char *fetched; /* by this rank's operations */
    unsigned char *compare; /* of a compare_and_swap */
};

/* Make the operations of all origins in the order of their ranks, on a random state. With a fault:
 * the last operation is lost, is the operation before it, or has a changed bit. */
struct model model_make(const struct plan *plan, int window);
void model_free(struct model *model);

/* Memory with elements at their places in it: of a window, or a buffer of the origin. */
struct memory {
    const char *name;
    unsigned char *bytes;
    MPI_Aint size;
    MPI_Aint begin; /* of the first slot */
    const struct placed *placed;
    long long slots;
    long long elements; /* in each */
    uint64_t seed;      /* of the bytes between the elements */
};

/* Write every byte: the elements, and random bytes between them. */
void memory_fill(const struct memory *memory, const struct element *element,
                 const unsigned char *elements);

/* Replace the elements of one slot. */
void memory_set(const struct memory *memory, const struct element *element, long long slot,
                const unsigned char *elements);

/* Compare every byte: the elements with the expected ones, all other bytes with the filled ones. */
void memory_compare(const struct memory *memory, const struct element *element,
                    const unsigned char *expected, struct verification *result);

#endif
