/* What a rank has of its machine, which it shares with the other ranks there. */
#ifndef ONESIDED_SHARE_H
#define ONESIDED_SHARE_H

#include <stddef.h>

#include "harness/host.h"

/* How many ranks the machine of this rank has, this rank included. */
int share_ranks(const struct host_facts *facts, int rank);

/* Its part of a cache of so many bytes that all ranks of a machine share, but never less than the
 * caches of its own core. */
size_t share_of_cache(size_t shared_bytes, size_t own_bytes, int ranks);

/* Bytes of memory that each rank may have, if every rank takes as many: the least over all
 * machines, so that all ranks know the same number. */
size_t share_of_memory(const struct host_facts *facts);

#endif
