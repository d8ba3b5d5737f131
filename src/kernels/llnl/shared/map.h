/* The map of some-to-some: pairs of ranks and sizes of messages, drawn from a seed.
 *
 * Only unsigned integers of 64 bits are used, so the map is the same with each MPI, compiler and
 * machine. Numbers are drawn by SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). docs/llnl.md
 * describes the map. */
#ifndef ONESIDED_MAP_H
#define ONESIDED_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct link {
    int source, destination; /* ranks, never the same */
    int elements;            /* of the message, eight bytes each; at least 1 */
};

struct map {
    int count;
    struct link *links;
};

/* Draw `count` links between ranks, with messages of at most most_elements elements. A double-sided
 * map has these links first, and then each link reversed, with a size of its own. */
struct map map_draw(uint64_t seed, int ranks, int count, int most_elements, bool is_double);
void map_free(struct map *map);

/* 32 bits of all links in their order, from 0 (FNV-1a over its numbers, folded). */
uint32_t map_checksum(const struct map *map);

#endif
