/* Is the data right? Checks made outside the timed sections, on every payload. */
#include "harness/verification.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/memory.h"

/* Count an error; keep the text of the first error. */
__attribute__((format(printf, 2, 3))) static void mismatch(struct verification *result,
                                                           const char *format, ...)
{
    if (result->errors++ == 0) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(result->first_mismatch, sizeof result->first_mismatch, format, arguments);
        va_end(arguments);
    }
}

struct verification verify_sequence(const int64_t *values, const int *begins, int ranks)
{
    const int total = begins[ranks];
    struct verification result = {.name = "sequence", .checked = total};
    bool *seen = allocate((size_t)total, sizeof seen[0]);
    for (int rank = 0; rank < ranks; rank++) {
        int64_t last = -1;
        for (int i = begins[rank]; i < begins[rank + 1]; i++) {
            const int64_t value = values[i];
            if (value < 0 || value >= total) {
                mismatch(&result, "value %" PRId64 " outside 0 to %d", value, total - 1);
                continue;
            }
            if (seen[value]) {
                mismatch(&result, "value %" PRId64 " seen twice", value);
            } else if (value < last) {
                mismatch(&result, "rank %d got %" PRId64 " after %" PRId64, rank, value, last);
            }
            seen[value] = true;
            last = value;
        }
    }
    free(seen);
    return result;
}

struct verification verify_exact(const char *name, int64_t found, int64_t expected)
{
    struct verification result = {.checked = 1};
    snprintf(result.name, sizeof result.name, "%s", name);
    if (found != expected) {
        mismatch(&result, "found %" PRId64 ", expected %" PRId64, found, expected);
    }
    return result;
}

void wrong_element(struct verification *result, int64_t found, int64_t expected, size_t position,
                   uint64_t sample)
{
    mismatch(result, "element %zu of sample %" PRIu64 ": found %" PRId64 ", expected %" PRId64,
             position, sample, found, expected);
}
