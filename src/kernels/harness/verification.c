/* Is the data right? Checks made outside the timed sections, on every payload. */
#include "harness/verification.h"

#include <inttypes.h>
#include <stdarg.h>
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

static void check_increasing(struct verification *result, const int64_t *values, const int *begins,
                             int ranks)
{
    for (int rank = 0; rank < ranks; rank++) {
        for (int i = begins[rank] + 1; i < begins[rank + 1]; i++) {
            if (values[i] <= values[i - 1]) {
                mismatch(result, "rank %d got %" PRId64 " after %" PRId64, rank, values[i],
                         values[i - 1]);
            }
        }
    }
}

static void check_each_once(struct verification *result, const int64_t *values, int total)
{
    int *times = allocate((size_t)total, sizeof times[0]);
    for (int i = 0; i < total; i++) {
        if (values[i] < 0 || values[i] >= total) {
            mismatch(result, "value %" PRId64 " outside 0 to %d", values[i], total - 1);
        } else {
            times[values[i]]++;
        }
    }
    for (int value = 0; value < total; value++) {
        if (times[value] != 1) {
            mismatch(result, "value %d seen %d times", value, times[value]);
        }
    }
    free(times);
}

struct verification verify_sequence(const int64_t *values, const int *begins, int ranks)
{
    struct verification result = {.name = "sequence", .checked = begins[ranks]};
    check_each_once(&result, values, begins[ranks]);
    check_increasing(&result, values, begins, ranks);
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
