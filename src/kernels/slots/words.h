/* Elements as words: the values before a burst, the sent values, and the expected results. Inline:
 * a large message takes longer after a long check. */
#ifndef ONESIDED_SLOTS_WORDS_H
#define ONESIDED_SLOTS_WORDS_H

#include <string.h>

#include "slots/inside.h"

#define NUMBERS 1000 /* sums and products of two such numbers are exact in every element */

INLINE size_t place_of(const struct slots *slots, int element)
{
    return slots->layout == NULL ? (size_t)element * (size_t)slots->stride_bytes
                                 : place_by(slots, element, slots->layout->place);
}

INLINE int64_t load(const void *place, size_t bytes)
{
    int64_t word = 0;
    if (bytes == WORD_BYTES) {
        memcpy(&word, place, WORD_BYTES);
    } else {
        memcpy(&word, place, bytes);
    }
    return word;
}

INLINE void store(void *place, int64_t word, size_t bytes)
{
    if (bytes == WORD_BYTES) {
        memcpy(place, &word, WORD_BYTES);
    } else {
        memcpy(place, &word, bytes);
    }
}

/* How values are made. No store can change this struct, so compilers keep it in registers. */
struct rule {
    const struct element *element;
    enum operator_kind operation;
    bool is_int64;
};

INLINE struct rule rule_of(const struct slots *slots)
{
    return (struct rule){.element = slots->element,
                         .operation = slots->reduces->operation,
                         .is_int64 = slots->element->handle == MPI_INT64_T};
}

INLINE int64_t word_of(struct rule rule, long long number)
{
    int64_t word = 0;
    if (rule.is_int64) {
        return number;
    }
    rule.element->set(&word, number, 0);
    return word;
}

/* A number; small if the result could otherwise be inexact or too large. */
INLINE long long draw(struct rule rule, uint64_t sample, size_t number)
{
    const long long drawn = value_of_sample(sample, number);
    return rule.is_int64 && rule.operation != PROD ? drawn : drawn % NUMBERS;
}

/* The target's value before an operation: every value that an origin sends changes it. */
INLINE int64_t word_before(struct rule rule, uint64_t sample, size_t number)
{
    const long long drawn = draw(rule, sample, 2 * number);
    return word_of(rule, rule.operation == PROD   ? 1 + drawn
                         : rule.operation == BAND ? -1
                         : rule.operation == MAX  ? drawn % NUMBERS
                                                  : drawn);
}

/* The value that an origin sends. */
INLINE int64_t word_sent(struct rule rule, uint64_t sample, size_t number)
{
    const bool is_greater = rule.operation == MAX || rule.operation == REPLACE;
    return word_of(rule, (is_greater ? NUMBERS : 2) + draw(rule, sample, 2 * number + 1));
}

/* The same; a failing compare_and_swap compares with another value than the target's, and sends a
 * third value. */
INLINE int64_t word_at_origin(const struct slots *slots, struct rule rule, int64_t model,
                              size_t number)
{
    return slots->makes->fails ? model + 1 : word_sent(rule, slots->sample, number);
}

/* The target's value after an operation. */
INLINE int64_t reduced(struct rule rule, int64_t before, int64_t sent)
{
    if (rule.operation == REPLACE || rule.operation == NO_OP) {
        return rule.operation == REPLACE ? sent : before;
    }
    if (rule.operation == SUM && rule.is_int64) {
        return before + sent;
    }
    rule.element->apply(rule.operation, &before, &sent);
    return before;
}

#endif
