/* Values: chosen so that a lost or changed operation leaves another result. */
#ifndef ONESIDED_CONFORMANCE_VALUES_H
#define ONESIDED_CONFORMANCE_VALUES_H

#include "data/conformance/plan.h"

/* Leave the value that the target has before the first operation. */
void value_before(const struct plan *plan, int window, long long slot, long long element,
                  void *place);

/* Leave the value that operation `number` of a rank sends; -1: the last operation of the round
 * before. */
void value_sent(const struct plan *plan, int window, int rank, long long number, long long element,
                void *place);

/* Does this compare_and_swap find the value that it compares with? */
bool is_to_swap(const struct plan *plan, int window, int rank, long long number);

#endif
