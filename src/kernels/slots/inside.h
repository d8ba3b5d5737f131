/* Functions and types that only the files of slots/ use. */
#ifndef ONESIDED_SLOTS_INSIDE_H
#define ONESIDED_SLOTS_INSIDE_H

#include "slots/bursts.h"

#define WORD_BYTES sizeof(int64_t)

enum stage { DESCRIBED, OPEN, PREPARED };

/* End the launch if a call comes too early or too late. */
void expect_stage(const struct slots *slots, enum stage stage, const char *call);

/* The elements of all slots of a region, without gaps. */
int all_elements(const struct slots *slots);

/* Bytes from a slot to the next, at the target. */
size_t slot_bytes(const struct slots *slots);

/* The number of the target's regions; the regions whose expected values this rank knows. */
int regions_there(const struct slots *slots);
int known_begin(const struct slots *slots);
int known_end(const struct slots *slots);

const struct window *window_of(const struct slots *slots, int region);

/* Bytes before a region in its window; bytes before the spare elements in a region. */
size_t region_begin(const struct slots *slots, int region);
size_t spare_begin(const struct slots *slots);

/* The number of an element through all regions. */
size_t number_of(const struct slots *slots, int region, int element);

/* The place of an element in its region, or of the element's gap. */
size_t place_by(const struct slots *slots, int element,
                size_t (*place)(size_t element, size_t elements));

/* Set the models to the values before the first burst; at the target, store elements and gaps,
 * which also touches all pages. */
void values_begin(const struct slots *slots);
void values_initialise(const struct slots *slots);

#endif
