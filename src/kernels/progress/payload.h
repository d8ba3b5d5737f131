/* Payloads with values that depend on the sample's number, and a model of what must become of them.
 */
#ifndef ONESIDED_PROGRESS_PAYLOAD_H
#define ONESIDED_PROGRESS_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "progress/experiment.h"

/* Behind each region: they keep origins apart, and no operation has them. */
#define SPARE_ELEMENTS 8

/* A region's elements: each has a gap, and there are the spare ones. */
size_t region_elements(const struct experiment *experiment);

/* What a rank has to know of the regions: an origin its own, the target all, any other none. */
void payload_allocate(struct experiment *experiment);
void payload_free(struct experiment *experiment);

/* At the target: touch every page, elements and gaps. */
void payload_initialise(struct experiment *experiment);

/* Begin a sample: a new payload where it is taken from, and nothing of it where it goes. */
void payload_prepare(struct experiment *experiment);

/* For tests, at the last origin; a second call takes it back. */
void payload_inject_wrong(const struct experiment *experiment);

/* After a barrier that follows `times` operations of each origin: hold all data against the model.
 */
void payload_check(struct experiment *experiment, int64_t times);

#endif
