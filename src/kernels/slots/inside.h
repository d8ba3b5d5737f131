/* What the files of this room know of each other's. */
#ifndef ONESIDED_SLOTS_INSIDE_H
#define ONESIDED_SLOTS_INSIDE_H

#include "slots/bursts.h"

#define WORD_BYTES sizeof(int64_t)

enum stage { DESCRIBED, OPEN, PREPARED };

/* End the launch where a call comes too early or too late. */
void expect_stage(const struct slots *slots, enum stage stage, const char *call);

/* Of all slots of a region, without gaps. */
int all_elements(const struct slots *slots);

/* From a slot to the next, at the target. */
size_t slot_bytes(const struct slots *slots);

/* Regions that the target has, and of which this rank knows what they must hold. */
int regions_there(const struct slots *slots);
int known_begin(const struct slots *slots);
int known_end(const struct slots *slots);

const struct window *window_of(const struct slots *slots, int region);

/* Bytes before a region in its window; and in a region before what is spare. */
size_t region_begin(const struct slots *slots, int region);
size_t spare_begin(const struct slots *slots);

/* The number of an element through all regions. */
size_t number_of(const struct slots *slots, int region, int element);

/* Where an element is in its region, or the gap that belongs to it. */
size_t place_by(const struct slots *slots, int element,
                size_t (*place)(size_t element, size_t elements));

/* What the target must hold before the first burst; and at the target, store it: all pages are
 * touched then, elements and gaps. */
void values_begin(const struct slots *slots);
void values_initialise(const struct slots *slots);

#endif
