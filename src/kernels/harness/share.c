/* A rank's share of the caches and the memory of its machine. */
#include "harness/share.h"

#include <stdint.h>

int share_ranks(const struct host_facts *facts, int rank)
{
    int ranks = 0;
    for (int other = 0; other < facts->ranks; other++) {
        ranks += host_same_machine(facts, rank, other);
    }
    return ranks;
}

size_t share_of_cache(size_t shared_bytes, size_t own_bytes, int ranks)
{
    const size_t share = shared_bytes / (size_t)ranks;
    return share > own_bytes ? share : own_bytes;
}

size_t share_of_memory(const struct host_facts *facts)
{
    size_t least = SIZE_MAX;
    for (int rank = 0; rank < facts->ranks; rank++) {
        const size_t share = facts->processes[rank].memory_bytes / (size_t)share_ranks(facts, rank);
        least = share < least ? share : least;
    }
    return least;
}
