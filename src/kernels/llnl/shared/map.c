/* The map of some-to-some, drawn from a seed. */
#include "llnl/shared/map.h"

#include <stdlib.h>

#include "harness/memory.h"

/* The next number of SplitMix64. */
static uint64_t draw(uint64_t *state)
{
    uint64_t bits = *state += UINT64_C(0x9E3779B97F4A7C15);
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94D049BB133111EB);
    return bits ^ (bits >> 31);
}

/* A number from 0 to `end` - 1. */
static int draw_below(uint64_t *state, int end)
{
    return (int)(draw(state) % (uint64_t)end);
}

struct map map_draw(uint64_t seed, int ranks, int count, int most_elements, bool is_double)
{
    const size_t links = (size_t)count * (is_double ? 2 : 1);
    struct map map = {.count = (int)links, .links = allocate(links, sizeof map.links[0])};
    uint64_t state = seed;
    for (int i = 0; i < count; i++) {
        struct link *link = &map.links[i];
        link->source = draw_below(&state, ranks);
        link->destination = (link->source + 1 + draw_below(&state, ranks - 1)) % ranks;
        link->elements = 1 + draw_below(&state, most_elements);
    }
    for (int i = count; i < map.count; i++) {
        const struct link *original = &map.links[i - count];
        map.links[i] = (struct link){.source = original->destination,
                                     .destination = original->source,
                                     .elements = 1 + draw_below(&state, most_elements)};
    }
    return map;
}

void map_free(struct map *map)
{
    free(map->links);
}

uint32_t map_checksum(const struct map *map)
{
    uint64_t sum = UINT64_C(0xCBF29CE484222325);
    for (int i = 0; i < map->count; i++) {
        const struct link *link = &map->links[i];
        const uint64_t numbers[] = {(uint64_t)link->source, (uint64_t)link->destination,
                                    (uint64_t)link->elements};
        for (int j = 0; j < 3; j++) {
            sum = (sum ^ numbers[j]) * UINT64_C(0x100000001B3);
        }
    }
    return (uint32_t)(sum ^ (sum >> 32));
}
