/* An operation with more bytes than an int counts: each element is verified without a model. */
#ifndef ONESIDED_CONFORMANCE_LARGE_H
#define ONESIDED_CONFORMANCE_LARGE_H

#include "data/conformance/plan.h"

#define LARGE_BYTES (INT64_C(1) << 30)

bool is_large(const struct plan *plan);

/* Collective: make the operation and compare every element. The cell is unsupported if there is too
 * little memory, or if the plan is not a single operation with plain layouts. */
void large_run(const struct plan *plan, struct record *record);

#endif
