/* Messages: new values at the source, cleared memory at the destination, and the verification.
 *
 * Each message of a sample has its own number, from which its elements are made. So a lost message,
 * or a message of another sample, rank or place, is wrong data. The functions are inline and call
 * no library; the kernels of MPI and of OpenSHMEM use them. */
#ifndef ONESIDED_SLOTS_MESSAGES_H
#define ONESIDED_SLOTS_MESSAGES_H

#include <stdint.h>

#include "harness/verification.h"

#define NOTHING (-1) /* at the destination before a message; no message has this value */

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

/* The text of a mismatch names `sample`. */
static inline void message_check(struct verification *found, const int64_t *memory, int elements,
                                 uint64_t number, uint64_t sample)
{
    for (int i = 0; i < elements; i++) {
        verify_element(found, memory[i], value_of_sample(number, (size_t)i), (size_t)i, sample);
    }
}

#endif
