/* May a process read the memory of another process on its host? */
#ifndef ONESIDED_NEIGHBOUR_H
#define ONESIDED_NEIGHBOUR_H

#include "harness/host.h"

/* Collective: try whether rank 1 may read the memory of rank 0's process without rank 0's help, as
 * libraries do for large messages and windows. 1: yes, 0: no, -1: not tried (one rank, or ranks on
 * several hosts). */
int neighbour_may_read(const struct host_facts *facts);

#endif
