/* The cells of a launch, one by one: each leaves its lines. */
#ifndef ONESIDED_RUN_H
#define ONESIDED_RUN_H

#include "harness/launch.h"

/* Collective: run the cells that are asked for; run cells with further passes again. Returns the
 * exit code. */
int run_cells(struct launch *launch);

#endif
