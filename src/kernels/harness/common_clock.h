/* Do stamps of different ranks mean the same? And a start that all ranks have in common. */
#ifndef ONESIDED_COMMON_CLOCK_H
#define ONESIDED_COMMON_CLOCK_H

#include <stdbool.h>

struct launch;

/* Collective: true on all ranks if their stamps can be compared. */
bool clock_is_global(const struct launch *launch);

/* Let all ranks begin together; return the cell's common start stamp (each rank's own where the
 * clock is not global). */
double launch_common_start(const struct launch *launch);

#endif
