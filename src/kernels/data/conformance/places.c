/* Where the elements of a cell are, in a window and in the buffers of an origin. */
#include "data/conformance/places.h"

uint64_t seed_of(const struct plan *plan, int window)
{
    const int place = plan->round * WINDOWS_MAX + window;
    return mixed(plan->seed, (uint64_t)(place * 4096 + plan->launch->rank));
}

struct memory part_of(const struct plan *plan, int window, unsigned char *bytes)
{
    const bool is_target = plan->launch->rank == plan->target_rank;
    return (struct memory){.name = "window",
                           .bytes = bytes,
                           .size = plan->has_memory ? window_bytes(plan) : 0,
                           .begin = window_lead(plan),
                           .placed = &plan->target,
                           .slots = is_target ? target_slots(plan) : 0,
                           .elements = plan->elements,
                           .seed = seed_of(plan, window)};
}

struct memory buffer_of(const struct plan *plan, const char *name, unsigned char *bytes,
                        uint64_t seed)
{
    return (struct memory){.name = name,
                           .bytes = bytes,
                           .size = buffer_bytes(plan),
                           .begin = window_lead(plan),
                           .placed = &plan->origin,
                           .slots = plan->outstanding,
                           .elements = plan->elements,
                           .seed = seed};
}
