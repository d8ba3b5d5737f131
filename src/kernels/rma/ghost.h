/* A ghost process: a rank that waits in MPI, so that accesses need not wait for a target that
 * computes. It shares the target's memory and exposes it in a window of its own; origins access
 * that.
 *
 * Source: Min Si, Antonio J. Peña, Jeff Hammond, Pavan Balaji, Masamichi Takagi, Yutaka Ishikawa,
 * "Casper: An Asynchronous Progress Model for MPI RMA on Many-Core Architectures", IPDPS 2015. */
#ifndef ONESIDED_GHOST_H
#define ONESIDED_GHOST_H

#include "rma/window.h"

/* Collective: tell whether the target and the rank `ghost` can share memory; leave the reason in
 * the record if they cannot, the same on all ranks. Origins may be on other machines. */
bool ghost_is_supported(int target, int ghost, struct record *record);

/* Collective, where that is so: a window with `size_bytes` of the target's memory, at the ghost. */
struct window ghost_open(const struct launch *launch, int target, int ghost, MPI_Aint size_bytes);

/* Collective: what the target stored before is seen by later accesses, and what origins completed
 * before is seen by the target. */
void ghost_pass_on(struct window *window, int ghost);

#endif
