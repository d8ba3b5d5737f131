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

/* The values of a shared counter, those of rank r at values[begins[r]] to values[begins[r+1]].
 * Whole means: 0, 1, 2, ... each once over all ranks, and increasing on each rank. */
struct verification verify_sequence(const int64_t *values, const int *begins, int ranks);

/* One number that must be met exactly: the sum of what was accumulated, a final count. */
struct verification verify_exact(const char *name, int64_t found, int64_t expected);

/* Count an element that is wrong; the first is kept in words. */
void wrong_element(struct verification *result, int64_t found, int64_t expected, size_t position,
                   uint64_t sample);

/* Compare one element of a sample with what it must be, and count it in `result`. Inline, as what
 * follows: the longer the checks between two bursts take, the dearer is a large message. */
static inline void verify_element(struct verification *result, int64_t found, int64_t expected,
                                  size_t position, uint64_t sample)
{
    result->checked++;
    if (found != expected) {
        wrong_element(result, found, expected, position, sample);
    }
}

/* An element that differs with its sample's number and its own: positive and small, so that sums of
 * all samples are exact. */
static inline int64_t value_of_sample(uint64_t sample, size_t element)
{
    uint64_t bits = sample * 0x9E3779B97F4A7C15u + (element + 1) * 0xD1B54A32D192ED03u;
    bits = (bits ^ (bits >> 31)) * 0xBF58476D1CE4E5B9u;
    return (int64_t)(bits >> 34) + 1;
}

#endif
