/* Where the elements of slots are. */
#include "slots/inside.h"

int all_elements(const struct slots *slots)
{
    return slots->count * slots->elements;
}

size_t slot_bytes(const struct slots *slots)
{
    const size_t places = (slots->layout == NULL ? 1 : 2) * (size_t)slots->elements;
    return places * (size_t)slots->stride_bytes;
}

size_t spare_begin(const struct slots *slots)
{
    return (size_t)slots->count * slot_bytes(slots);
}

size_t region_bytes(const struct slots *slots)
{
    return spare_begin(slots) + (size_t)(slots->spare * slots->stride_bytes);
}

int regions_there(const struct slots *slots)
{
    return slots->is_common ? 1 : slots->origins;
}

int known_begin(const struct slots *slots)
{
    return slots->is_target ? 0 : slots->begin;
}

int known_end(const struct slots *slots)
{
    return slots->is_target ? slots->origins : slots->end;
}

const struct window *window_of(const struct slots *slots, int region)
{
    return &slots->window[slots->windows == 1 ? 0 : region];
}

size_t region_begin(const struct slots *slots, int region)
{
    const bool is_first = slots->is_common || slots->windows > 1;
    return is_first ? 0 : (size_t)region * region_bytes(slots);
}

char *region_memory(const struct slots *slots, int region)
{
    return (char *)window_of(slots, region)->memory + region_begin(slots, region);
}

char *spare_memory(const struct slots *slots, int region)
{
    return region_memory(slots, region) + spare_begin(slots);
}

size_t number_of(const struct slots *slots, int region, int element)
{
    return (size_t)region * (size_t)all_elements(slots) + (size_t)element;
}

size_t place_by(const struct slots *slots, int element,
                size_t (*place)(size_t element, size_t elements))
{
    const size_t elements = (size_t)slots->elements, number = (size_t)element;
    return number / elements * slot_bytes(slots) +
           place(number % elements, elements) * (size_t)slots->stride_bytes;
}
