/* An operation of more bytes than an int counts: no model in memory, each element by its number. */
#ifndef ONESIDED_CONFORMANCE_LARGE_H
#define ONESIDED_CONFORMANCE_LARGE_H

#include "data/conformance/plan.h"

#define LARGE_BYTES (INT64_C(1) << 30)

bool is_large(const struct plan *plan);

/* Collective: make it and compare every element; unsupported where there is no memory for it, or
 * where the plan is not one operation with plain layouts. */
void large_run(const struct plan *plan, struct record *record);

#endif
