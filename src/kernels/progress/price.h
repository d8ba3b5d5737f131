/* The price of an operation: what it takes while nobody computes.
 */
#ifndef ONESIDED_PROGRESS_PRICE_H
#define ONESIDED_PROGRESS_PRICE_H

#include <stdbool.h>

#include "progress/experiment.h"

/* The origins make bursts, all at once, while all others wait: nobody computes. */
void price_take(struct experiment *experiment);

/* Tell whether a cell's price was taken in this launch. */
bool price_was_taken(const struct cell *cell);

/* Free what is known of all cells. */
void price_end(void);

#endif
