/* A rank's share of the caches and the memory of its machine. */
#ifndef ONESIDED_SHARE_H
#define ONESIDED_SHARE_H

#include <stddef.h>

#include "harness/host.h"

/* How many ranks the machine of this rank has, this rank included. */
int share_ranks(const struct host_facts *facts, int rank);

/* A rank's part of a cache of shared_bytes that all ranks of a machine share, but at least
 * own_bytes, the caches of its own core. */
size_t share_of_cache(size_t shared_bytes, size_t own_bytes, int ranks);

/* Bytes of memory that each rank may take if all ranks take equally many: the least over all
 * machines, so the same on all ranks. */
size_t share_of_memory(const struct host_facts *facts);

#endif
