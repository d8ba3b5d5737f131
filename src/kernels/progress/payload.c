/* Payloads, and what must become of them at the target and at the origin.
 */
#include "progress/payload.h"

#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"
#include "harness/watchdog.h"

size_t region_elements(const struct experiment *experiment)
{
    return 2 * (size_t)experiment->elements + SPARE_ELEMENTS;
}

/* Positive and small, so that sums of all samples are exact. `element` counts through all regions.
 */
static int64_t element_of_sample(uint64_t sample, size_t element)
{
    uint64_t bits = sample * 0x9E3779B97F4A7C15u + (element + 1) * 0xD1B54A32D192ED03u;
    bits = (bits ^ (bits >> 31)) * 0xBF58476D1CE4E5B9u;
    return (int64_t)(bits >> 34) + 1;
}

static int64_t guard(size_t place)
{
    return -1 - (int64_t)place;
}

/* An epoch of the target's own for its loads and stores. Shared, for origins may hold shared locks;
 * barriers keep the accesses apart, MPI_Win_sync keeps both copies of the window alike. */
static void begin_own_epoch(struct experiment *experiment, int lock_type)
{
    if (!experiment->target_state->holds_lock_all || lock_type == MPI_LOCK_EXCLUSIVE) {
        CHECKED(MPI_Win_lock(lock_type, experiment->target, 0, experiment->window));
    }
    CHECKED(MPI_Win_sync(experiment->window));
}

static void end_own_epoch(struct experiment *experiment, int lock_type)
{
    CHECKED(MPI_Win_sync(experiment->window));
    if (!experiment->target_state->holds_lock_all || lock_type == MPI_LOCK_EXCLUSIVE) {
        CHECKED(MPI_Win_unlock(experiment->target, experiment->window));
    }
}

/* The number of an element through all regions. */
static size_t number_of(const struct experiment *experiment, int region, int element)
{
    return (size_t)region * (size_t)experiment->elements + (size_t)element;
}

/* At the target: where a region's element lies in the window, and the gap that belongs to it. */
static size_t place_of(const struct experiment *experiment, int region, int element)
{
    return (size_t)region * region_elements(experiment) +
           experiment->layout->place((size_t)element, (size_t)experiment->elements);
}

static size_t gap_of(const struct experiment *experiment, int region, int element)
{
    return (size_t)region * region_elements(experiment) +
           experiment->layout->gap((size_t)element, (size_t)experiment->elements);
}

void payload_initialise(struct experiment *experiment)
{
    const size_t places = (size_t)experiment->origins * region_elements(experiment);
    begin_own_epoch(experiment, MPI_LOCK_EXCLUSIVE);
    for (size_t place = 0; place < places; place++) {
        experiment->memory[place] = guard(place);
    }
    for (int region = 0; region < experiment->origins; region++) {
        for (int i = 0; i < experiment->elements; i++) {
            experiment->memory[place_of(experiment, region, i)] =
                experiment->regions[region].model[i];
        }
    }
    end_own_epoch(experiment, MPI_LOCK_EXCLUSIVE);
}

/* For tests: one element of the last origin that differs from what the model says. */
static void inject_wrong_data(const struct experiment *experiment, int64_t *element)
{
    if (experiment->sample == 1 &&
        launch_injects(experiment->launch, experiment->cell, INJECT_WRONG_DATA)) {
        *element ^= 1;
    }
}

void payload_prepare(struct experiment *experiment)
{
    const int elements = experiment->elements;
    const int last = experiment->origins - 1;
    const bool keeps = experiment->operation->effect == KEEPS;
    experiment->sample++;
    for (int i = 0; i < elements; i++) {
        experiment->result[i] = -1;
    }
    for (int region = experiment->known_begin; region < experiment->known_end; region++) {
        const struct region *known = &experiment->regions[region];
        experiment->compared = known->model[0];
        for (int i = 0; i < elements; i++) {
            known->payload[i] =
                element_of_sample(experiment->sample, number_of(experiment, region, i));
        }
        if (keeps) {
            memcpy(known->model, known->payload, (size_t)elements * sizeof(int64_t));
        }
    }
    if (keeps && experiment->is_target) {
        begin_own_epoch(experiment, MPI_LOCK_SHARED);
        for (int region = 0; region < experiment->origins; region++) {
            for (int i = 0; i < elements; i++) {
                experiment->memory[place_of(experiment, region, i)] =
                    experiment->regions[region].payload[i];
            }
        }
        inject_wrong_data(experiment,
                          &experiment->memory[place_of(experiment, last, elements - 1)]);
        end_own_epoch(experiment, MPI_LOCK_SHARED);
    }
}

/* After `times` operations with one payload: what the target holds, what the last one fetched. */
static void advance_model(const struct experiment *experiment, const struct region *region,
                          int64_t times)
{
    for (int i = 0; i < experiment->elements; i++) {
        const int64_t old = region->model[i];
        const int64_t payload = region->payload[i];
        switch (experiment->operation->effect) {
        case KEEPS:
            region->fetched[i] = old;
            break;
        case REPLACES: /* and a second compare_and_swap finds what the first has left */
            region->fetched[i] = times > 1 ? payload : old;
            region->model[i] = payload;
            break;
        case ADDS:
            region->fetched[i] = old + (times - 1) * payload;
            region->model[i] = old + times * payload;
            break;
        }
    }
}

/* At an origin: hold what it fetched against the model. */
static void check_result(struct experiment *experiment)
{
    const int own = experiment->known_begin;
    for (int i = 0; i < experiment->elements; i++) {
        verify_element(&experiment->at_origin, experiment->result[i],
                       experiment->regions[own].fetched[i], number_of(experiment, own, i),
                       experiment->sample);
    }
}

/* At the target: hold the elements and gaps of an origin's region against the model. */
static void check_region(struct experiment *experiment, int region)
{
    const int64_t *memory = experiment->memory;
    for (int i = 0; i < experiment->elements; i++) {
        const size_t gap = gap_of(experiment, region, i);
        const size_t number = number_of(experiment, region, i);
        verify_element(&experiment->at_target, memory[place_of(experiment, region, i)],
                       experiment->regions[region].model[i], number, experiment->sample);
        verify_element(&experiment->in_gaps, memory[gap], guard(gap), number, experiment->sample);
    }
}

void payload_check(struct experiment *experiment, int64_t times)
{
    watchdog_phase = "verify";
    for (int region = experiment->known_begin; region < experiment->known_end; region++) {
        advance_model(experiment, &experiment->regions[region], times);
    }
    if (experiment->is_origin && experiment->operation->fetches) {
        check_result(experiment);
    }
    if (experiment->is_target) {
        begin_own_epoch(experiment, MPI_LOCK_SHARED);
        for (int region = 0; region < experiment->origins; region++) {
            check_region(experiment, region);
        }
        end_own_epoch(experiment, MPI_LOCK_SHARED);
    }
}

void payload_inject_wrong(const struct experiment *experiment)
{
    if (experiment->place == experiment->origins) {
        inject_wrong_data(experiment, &experiment->payload[experiment->elements - 1]);
    }
}

void payload_allocate(struct experiment *experiment)
{
    const size_t elements = (size_t)experiment->elements;
    experiment->result = allocate(elements, sizeof(int64_t));
    experiment->regions = allocate((size_t)experiment->origins, sizeof experiment->regions[0]);
    experiment->known_begin = experiment->is_origin ? experiment->place - 1 : 0;
    experiment->known_end = experiment->is_origin   ? experiment->place
                            : experiment->is_target ? experiment->origins
                                                    : 0;
    for (int region = experiment->known_begin; region < experiment->known_end; region++) {
        struct region *known = &experiment->regions[region];
        *known = (struct region){.payload = allocate(elements, sizeof(int64_t)),
                                 .model = allocate(elements, sizeof(int64_t)),
                                 .fetched = allocate(elements, sizeof(int64_t))};
        experiment->payload = known->payload;
        for (int i = 0; i < experiment->elements; i++) {
            known->model[i] = element_of_sample(0, number_of(experiment, region, i));
        }
    }
}

void payload_free(struct experiment *experiment)
{
    for (int region = experiment->known_begin; region < experiment->known_end; region++) {
        free(experiment->regions[region].payload);
        free(experiment->regions[region].model);
        free(experiment->regions[region].fetched);
    }
    free(experiment->regions);
    free(experiment->result);
}
