/* Messages: new values where they come from, none where they go, and whether they arrived.
 *
 * Each message of a sample has a number of its own, from which its elements are made: one that is
 * lost, or that of another sample, rank or place, is wrong data. Inline, and of no library: MPI and
 * OpenSHMEM have the same. */
#ifndef ONESIDED_SLOTS_MESSAGES_H
#define ONESIDED_SLOTS_MESSAGES_H

#include <stdint.h>

#include "harness/verification.h"

#define NOTHING (-1) /* where a message goes, before it does; no message has it */

static inline void message_fill(int64_t *memory, int elements, uint64_t number)
{
    for (int i = 0; i < elements; i++) {
        memory[i] = value_of_sample(number, (size_t)i);
    }
}

static inline void message_clear(int64_t *memory, int elements)
{
    for (int i = 0; i < elements; i++) {
        memory[i] = NOTHING;
    }
}

/* `sample` is what a mismatch names. */
static inline void message_check(struct verification *found, const int64_t *memory, int elements,
                                 uint64_t number, uint64_t sample)
{
    for (int i = 0; i < elements; i++) {
        verify_element(found, memory[i], value_of_sample(number, (size_t)i), (size_t)i, sample);
    }
}

#endif
