/* Whether all ranks have one clock, and a start that all ranks have in common. */
#ifndef ONESIDED_COMMON_CLOCK_H
#define ONESIDED_COMMON_CLOCK_H

#include <stdbool.h>

struct launch;

/* Collective: true on all ranks if their stamps can be compared. */
bool clock_is_global(const struct launch *launch);

/* Let all ranks begin together; return the cell's common start stamp. Without a common clock, each
 * rank returns a stamp of its own. */
double launch_common_start(const struct launch *launch);

#endif
