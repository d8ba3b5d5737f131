/* The model: what a window, and what is fetched from it, must be; in plain C, by no call of MPI. */
#ifndef ONESIDED_CONFORMANCE_MODEL_H
#define ONESIDED_CONFORMANCE_MODEL_H

#include "data/conformance/plan.h"
#include "harness/verification.h"

/* Elements without gaps, one operation after the other. */
struct model {
    unsigned char *before;  /* of the target, by slot: what it has before the first operation */
    unsigned char *state;   /* and after the last */
    unsigned char *sent;    /* this rank's operations */
    unsigned char *fetched; /* what they find */
    unsigned char *compare; /* of a compare_and_swap */
};

/* Make the operations of all origins in the order of their ranks, on a state that is drawn. With a
 * fault: as if the last one was lost, was the one before, or had a bit changed. */
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

/* Write every byte: the elements, and what is drawn between them. */
void memory_fill(const struct memory *memory, const struct element *element,
                 const unsigned char *elements);

/* Replace the elements of one slot. */
void memory_set(const struct memory *memory, const struct element *element, long long slot,
                const unsigned char *elements);

/* Compare every byte: the elements with those expected, and all others with what was filled in. */
void memory_compare(const struct memory *memory, const struct element *element,
                    const unsigned char *expected, struct verification *result);

#endif
