/* Slots for kernels that make their own bursts: where slots are, and bursts of an origin alone. */
#ifndef ONESIDED_SLOTS_BURSTS_H
#define ONESIDED_SLOTS_BURSTS_H

#include "slots/slots.h"

/* Bytes of a region, with gaps and spare elements; at the target, the address of a region, and of
 * its spare elements. */
size_t region_bytes(const struct slots *slots);
char *region_memory(const struct slots *slots, int region);
char *spare_memory(const struct slots *slots, int region);

/* An origin's accesses to one of its regions. */
struct transfer slots_transfer(const struct slots *slots, int region, struct epoch epoch);

/* At an origin, before and after a burst about which other ranks learn later, between slots_prepare
 * and slots_check with no slots. Operations that replace elements and fetch nothing are read
 * back. */
void slots_prepare_alone(struct slots *slots, long long burst);
void slots_check_alone(struct slots *slots, const struct transfer *transfer, long long burst);
/* At the other ranks: an origin has made so many bursts. */
void slots_follow(struct slots *slots, long long bursts, long long burst);

#endif
