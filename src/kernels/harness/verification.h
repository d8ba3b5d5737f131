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

/* Compare one element of a sample with what it must be, and count it in `result`. */
void verify_element(struct verification *result, int64_t found, int64_t expected, size_t position,
                    uint64_t sample);

/* An element that differs with its sample's number and its own: positive and small, so that sums of
 * all samples are exact. */
int64_t value_of_sample(uint64_t sample, size_t element);

#endif
