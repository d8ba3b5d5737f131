/* Linked in front of the harness by ld's --wrap: each verified element takes 10 ms more.
 * A time that becomes longer contains verification. */
#include <time.h>

#include "harness/verification.h"

/* Weak: CMake tries its flags on programs that have none. */
__attribute__((weak)) void __real_verify_element(struct verification *result, int64_t found,
                                                 int64_t expected, size_t position,
                                                 uint64_t sample);
void __wrap_verify_element(struct verification *result, int64_t found, int64_t expected,
                           size_t position, uint64_t sample);

void __wrap_verify_element(struct verification *result, int64_t found, int64_t expected,
                           size_t position, uint64_t sample)
{
    const struct timespec longer = {.tv_nsec = 10000000};
    nanosleep(&longer, NULL);
    __real_verify_element(result, found, expected, position, sample);
}
