/* Numbers that ranks have taken from a shared counter. */
#ifndef ONESIDED_NUMBERS_H
#define ONESIDED_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#include "harness/launch.h"

/* All ranks: verify that the ranks together got the numbers 0, 1, 2, ... each once, increasing on
 * every rank, and that the counter's final value (rank 0 gives it) is the count of all numbers. */
void numbers_verify(const struct launch *launch, struct record *record, const int64_t *numbers,
                    size_t count, int64_t final_value);

#endif
