/* Epochs of rank 0 on the ranks after it: the accessed data, and their expected values. */
#ifndef ONESIDED_EPOCHS_H
#define ONESIDED_EPOCHS_H

#include "mpi/checked.h"
#include "rma/window.h"

#define ORIGIN 0

struct access {
    const char *name;
    bool fetches, is_of_one_element;
};

struct epochs {
    struct launch *launch;
    const struct way *way;
    const struct access *access;
    struct window window;
    int targets, operations, elements; /* accessed ranks; slots of each in an epoch; of a slot */
    long long slots;                   /* of each target */
    int64_t *payload, *result;         /* at rank 0: of all targets */
    uint64_t *written;                 /* by slot: the sample that wrote it; 0: none */
    uint64_t sample;
    MPI_Request *requests; /* of an epoch's accesses */
    struct verification at_target, at_origin;
};

/* Where a slot's elements are among the elements of all targets. */
static inline size_t element_of(const struct epochs *epochs, int target, long long slot)
{
    const size_t before = (size_t)(target - 1) * (size_t)epochs->slots + (size_t)slot;
    return before * (size_t)epochs->elements;
}

/* Collective: open the window with the cell's targets and slots, none of them written. If this is
 * impossible, the record has the reason, and the result is false on all ranks. */
bool content_open(struct epochs *epochs, const struct cell *cell, struct record *record,
                  bool has_requests);
/* Collective: leave the verifications in the record. */
void content_close(struct epochs *epochs, struct record *record);

/* All ranks, before and after a burst of epochs: set new values; compare the written and
 * fetched. */
void content_prepare(void *state, long long burst);
void content_check(void *state, long long burst);

#endif
