/* A ghost process: a rank that waits in MPI, so that accesses need not wait for a computing target.
 * The ghost shares the target's memory and exposes it in a window of its own; origins access this
 * window.
 *
 * Source: Min Si, Antonio J. Peña, Jeff Hammond, Pavan Balaji, Masamichi Takagi, Yutaka Ishikawa,
 * "Casper: An Asynchronous Progress Model for MPI RMA on Many-Core Architectures", IPDPS 2015. */
#ifndef ONESIDED_GHOST_H
#define ONESIDED_GHOST_H

#include "rma/window.h"

/* Collective: tell whether the target and the rank `ghost` can share memory; if not, the record has
 * the reason, the same on all ranks. Origins may be on other machines. */
bool ghost_is_supported(int target, int ghost, struct record *record);

/* Collective, if they can: open a window with `size_bytes` of the target's memory, at the ghost. */
struct window ghost_open(const struct launch *launch, int target, int ghost, MPI_Aint size_bytes);

/* Collective: later accesses see the target's stores, and the target sees the accesses that origins
 * have completed. */
void ghost_pass_on(struct window *window, int ghost);

#endif
