/* Messages: new values where they come from, none where they go, and whether they arrived.
 *
 * Each message of a sample has a number of its own, from which its elements are made: one that is
 * lost, or that of another sample, rank or place, is wrong data. Inline, and of no library: MPI and
 * OpenSHMEM have the same. */
#ifndef ONESIDED_SLOTS_MESSAGES_H
#define ONESIDED_SLOTS_MESSAGES_H

#include <stdint.h>

#include "harness/launch.h"
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

/* For tests, as long as the harness injects: the fault of a sample's last message. Wrong data is a
 * message that is lost in the first sample. */
static inline enum injection message_fault(const struct launch *launch, const struct cell *cell,
                                           uint64_t sample)
{
    const bool is_wrong = sample == 1 && launch_injects(launch, cell, INJECT_WRONG_DATA);
    return is_wrong ? INJECT_DROP : launch_fault(launch, cell);
}

/* Such a message: lost, the one with the number `before`, or with another bit in its last element.
 */
static inline void message_spoil(int64_t *memory, int elements, uint64_t before,
                                 enum injection fault)
{
    for (int i = fault == INJECT_FLIP ? elements - 1 : 0; i < elements; i++) {
        memory[i] = faulty_number(fault, memory[i], value_of_sample(before, (size_t)i));
    }
}

#endif
