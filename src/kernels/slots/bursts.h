/* Slots for kernels that make their own bursts: where slots are, and bursts of an origin alone. */
#ifndef ONESIDED_SLOTS_BURSTS_H
#define ONESIDED_SLOTS_BURSTS_H

#include "slots/slots.h"

/* Of a region, with its gaps and what is spare; and at the target, where it begins, and where what
 * is spare. */
size_t region_bytes(const struct slots *slots);
char *region_memory(const struct slots *slots, int region);
char *spare_memory(const struct slots *slots, int region);

/* What an origin accesses one of its regions with. */
struct transfer slots_transfer(const struct slots *slots, int region, struct epoch epoch);

/* At an origin, around a burst of which the others know later, between slots_prepare and
 * slots_check of no slots. What replaces elements and fetches nothing is read back. */
void slots_prepare_alone(struct slots *slots, long long burst);
void slots_check_alone(struct slots *slots, const struct transfer *transfer, long long burst);
/* At the others: there were so many. */
void slots_follow(struct slots *slots, long long bursts, long long burst);

#endif
