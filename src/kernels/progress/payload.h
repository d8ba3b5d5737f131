/* Payloads with values that depend on the number of the sample or burst, and a model of what must
 * become of them.
 *
 * An origin's region of the window has slots. Each operation of a burst has a slot, a payload and a
 * result of its own, so that none can be lost or repeated unseen. A burst is verified before the
 * next one: what it fetched is compared with the model; where it replaces the target's elements and
 * fetches nothing, the region is read back. Sums are verified at the end, for each term differs. */
#ifndef ONESIDED_PROGRESS_PAYLOAD_H
#define ONESIDED_PROGRESS_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "progress/experiment.h"

/* Behind each region: they keep origins apart, and no operation has them. */
#define SPARE_ELEMENTS 8

/* Of a region in all its slots: more would not stay in a core's cache, and one operation's payload
 * would be another's cost. A payload that is larger has one slot. */
#define SLOTS_BYTES (128 << 10)

/* A region's elements: each has a gap, and there are the spare ones. */
size_t region_elements(const struct experiment *experiment);

/* What a rank has to know of the regions: an origin its own, the target all, any other none. */
void payload_allocate(struct experiment *experiment);
void payload_free(struct experiment *experiment);

/* At the target: touch every page, elements and gaps. */
void payload_initialise(struct experiment *experiment);

/* All ranks: begin a sample, or the bursts of a price, on so many slots. New payloads where they
 * are taken from, the target's window too, and nothing of them where they go. */
void payload_prepare(struct experiment *experiment, long long slots);

/* At an origin: begin a burst of operations on so many slots. */
void payload_renew(struct experiment *experiment, long long slots);

/* After an operation on each of so many slots: move the model on. An origin compares what it has
 * fetched with the model. */
void payload_advance(struct experiment *experiment, long long slots);

/* At a rank that made none of these bursts: move the model on by all of them. */
void payload_follow(struct experiment *experiment, long long bursts, long long slots);

/* At an origin, after `read_back`: compare its region with the model. */
void payload_check_copy(struct experiment *experiment);

/* After a barrier that follows the operations: the target compares its window with the model. */
void payload_check(struct experiment *experiment);

/* For tests, at the last origin; a second call takes it back. */
void payload_inject_wrong(const struct experiment *experiment);

#endif
