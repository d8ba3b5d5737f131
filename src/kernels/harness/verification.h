/* Is the data right? Checks made outside the timed sections, on every payload. */
#ifndef ONESIDED_VERIFICATION_H
#define ONESIDED_VERIFICATION_H

#include <stddef.h>
#include <stdint.h>

#define CHECK_NAME_BYTES 32
#define FIRST_MISMATCH_BYTES 128

struct verification {
    char name[CHECK_NAME_BYTES];
    long long checked;
    long long errors;
    char first_mismatch[FIRST_MISMATCH_BYTES]; /* empty: none */
};

/* The values of a shared counter; rank r has values[begins[r]] up to values[begins[r+1]]. They are
 * right if they are 0, 1, 2, ... each once over all ranks, and increase on each rank. A wrong value
 * is one error. If no value is wrong, none is missing, because there are as many as numbers. */
struct verification verify_sequence(const int64_t *values, const int *begins, int ranks);

/* One number that must be exactly right, such as the sum of all accumulates or a final count. */
struct verification verify_exact(const char *name, int64_t found, int64_t expected);

/* Count an element that is wrong; keep a text on the first. */
void wrong_element(struct verification *result, int64_t found, int64_t expected, size_t position,
                   uint64_t sample);

/* Compare one element of a sample with the expected value, and count it in `result`. Inline, as the
 * next function: a large message takes longer after long checks between two bursts. */
static inline void verify_element(struct verification *result, int64_t found, int64_t expected,
                                  size_t position, uint64_t sample)
{
    result->checked++;
    if (found != expected) {
        wrong_element(result, found, expected, position, sample);
    }
}

/* A value that depends on the number of the sample and of the element: positive and small, so that
 * sums of all samples are exact. */
static inline int64_t value_of_sample(uint64_t sample, size_t element)
{
    uint64_t bits = sample * 0x9E3779B97F4A7C15u + (element + 1) * 0xD1B54A32D192ED03u;
    bits = (bits ^ (bits >> 31)) * 0xBF58476D1CE4E5B9u;
    return (int64_t)(bits >> 34) + 1;
}

#endif
