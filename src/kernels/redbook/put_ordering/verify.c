/* The places of overlapping puts after a burst: from which put are the data of each block? */
#include "redbook/put_ordering/places.h"

int64_t value_of(const struct places *places, int origin, uint64_t number, long long put,
                 long long element)
{
    const uint64_t puts = (uint64_t)places->slots * (uint64_t)places->launch->ranks;
    const uint64_t own = (uint64_t)origin * (uint64_t)places->slots + (uint64_t)put;
    return value_of_sample(number * puts + own, (size_t)element);
}

int64_t *region_of(const struct places *places, int origin)
{
    return (int64_t *)places->window.memory + (origin - 1) * region_elements_of(places);
}

/* Compare an element that two puts may have written with the values of both puts. */
static void compare_shared(struct places *places, int origin, long long put, long long element)
{
    const long long place = places->place_of[put], shared = places->elements - places->stride;
    const int64_t found = region_of(places, origin)[place * places->stride + element];
    const bool is_first = element < shared;
    const long long other = is_first ? places->put_at[place - 1] : places->put_at[place + 1];
    const long long at_other = is_first ? element + places->stride : element - places->stride;
    const int64_t own = value_of(places, origin, places->number, put, element);
    if (other == NO_PUT || put > other) {
        const int64_t earlier =
            other == NO_PUT ? NOTHING : value_of(places, origin, places->number, other, at_other);
        const bool is_older = other != NO_PUT && found == earlier && earlier != own;
        places->overlapped += other != NO_PUT;
        places->older += is_older;
        verify_element(&places->found, found,
                       is_older && places->idiom->is_unordered ? earlier : own, (size_t)element,
                       places->number);
    }
}

static void compare(struct places *places, int origin, long long burst)
{
    const long long shared = places->elements - places->stride;
    for (long long i = 0; i < burst; i++) {
        for (long long element = 0; element < places->elements; element++) {
            if (element < shared || element >= places->elements - shared) {
                compare_shared(places, origin, i, element);
            } else {
                verify_element(
                    &places->found,
                    region_of(places, origin)[places->place_of[i] * places->stride + element],
                    value_of(places, origin, places->number, i, element), (size_t)element,
                    places->number);
            }
        }
    }
}

void places_check(void *state, long long burst)
{
    struct places *places = state;
    if (places->launch->rank != TARGET) {
        return;
    }
    places->overlapped = places->older = 0;
    for (long long i = 0; i < burst; i++) {
        places->put_at[places->place_of[i]] = i;
    }
    window_begin_own(&places->window, MPI_LOCK_SHARED);
    for (int origin = 1; origin < places->launch->ranks; origin++) {
        compare(places, origin, burst);
    }
    window_end_own(&places->window);
}
