/* Payloads, and what must become of them at the target and at the origin. */
#include "progress/payload.h"

#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"
#include "harness/watchdog.h"

size_t region_elements(const struct experiment *experiment)
{
    return 2 * (size_t)experiment->slots * (size_t)experiment->elements + SPARE_ELEMENTS;
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

/* Of all slots of a region, those of each slot together. */
static int payload_elements(const struct experiment *experiment)
{
    return experiment->slots * experiment->elements;
}

/* The number of an element through all regions. */
static size_t number_of(const struct experiment *experiment, int region, int element)
{
    return (size_t)region * (size_t)payload_elements(experiment) + (size_t)element;
}

/* Where an element of a region lies in it, and the gap that belongs to it: each slot has the
 * layout. */
static size_t place_in_region(const struct experiment *experiment, int element)
{
    const size_t elements = (size_t)experiment->elements;
    const size_t slot = (size_t)element / elements;
    return 2 * slot * elements + experiment->layout->place((size_t)element % elements, elements);
}

static size_t gap_in_region(const struct experiment *experiment, int element)
{
    const size_t elements = (size_t)experiment->elements;
    const size_t slot = (size_t)element / elements;
    return 2 * slot * elements + experiment->layout->gap((size_t)element % elements, elements);
}

/* Where a region begins in the target's window. */
static size_t begin_of(const struct experiment *experiment, int region)
{
    return (size_t)region * region_elements(experiment);
}

void payload_initialise(struct experiment *experiment)
{
    const size_t places = (size_t)experiment->origins * region_elements(experiment);
    begin_own_epoch(experiment, MPI_LOCK_EXCLUSIVE);
    for (size_t place = 0; place < places; place++) {
        experiment->memory[place] = guard(place);
    }
    for (int region = 0; region < experiment->origins; region++) {
        int64_t *memory = experiment->memory + begin_of(experiment, region);
        for (int i = 0; i < payload_elements(experiment); i++) {
            memory[place_in_region(experiment, i)] = experiment->regions[region].model[i];
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

/* A burst's new payloads. What is got is there from the beginning. */
static void fill(struct experiment *experiment, long long slots)
{
    const int count = (int)slots * experiment->elements;
    experiment->sample++;
    for (int region = experiment->known_begin; region < experiment->known_end; region++) {
        for (int i = 0; i < count; i++) {
            experiment->regions[region].payload[i] =
                element_of_sample(experiment->sample, number_of(experiment, region, i));
        }
    }
}

/* What compare_and_swap compares with: the target's element. One that is to fail compares with
 * another value, and has a third to swap in. */
static void expect_old(struct experiment *experiment, long long slots)
{
    const struct region *own = &experiment->regions[experiment->known_begin];
    for (long long i = 0; experiment->is_origin && i < slots * experiment->elements; i++) {
        experiment->compared[i] = own->model[i];
        if (experiment->operation->fails) {
            experiment->compared[i] = ~own->model[i];
            own->payload[i] = own->model[i] + 1;
        }
    }
}

static void forget_results(struct experiment *experiment, long long slots)
{
    for (long long i = 0; experiment->is_origin && i < slots * experiment->elements; i++) {
        experiment->result[i] = -1;
    }
}

/* What is got: at the target, where the operations find it. */
static void store_payloads(struct experiment *experiment, long long slots)
{
    const int count = (int)slots * experiment->elements;
    const int last = experiment->origins - 1;
    begin_own_epoch(experiment, MPI_LOCK_SHARED);
    for (int region = 0; region < experiment->origins; region++) {
        int64_t *memory = experiment->memory + begin_of(experiment, region);
        for (int i = 0; i < count; i++) {
            memory[place_in_region(experiment, i)] = experiment->regions[region].model[i];
        }
    }
    inject_wrong_data(experiment,
                      &experiment->memory[begin_of(experiment, last) +
                                          place_in_region(experiment, experiment->elements - 1)]);
    end_own_epoch(experiment, MPI_LOCK_SHARED);
}

void payload_prepare(struct experiment *experiment, long long slots)
{
    const size_t bytes = (size_t)slots * (size_t)experiment->elements * sizeof(int64_t);
    const bool keeps = experiment->operation->effect == KEEPS;
    fill(experiment, slots);
    for (int region = experiment->known_begin; keeps && region < experiment->known_end; region++) {
        memcpy(experiment->regions[region].model, experiment->regions[region].payload, bytes);
    }
    expect_old(experiment, slots);
    forget_results(experiment, slots);
    if (keeps && experiment->is_target) {
        store_payloads(experiment, slots);
    }
}

void payload_renew(struct experiment *experiment, long long slots)
{
    if (experiment->operation->effect != KEEPS) {
        fill(experiment, slots);
        expect_old(experiment, slots);
    }
    forget_results(experiment, slots);
}

static int64_t advanced(enum effect effect, int64_t old, int64_t payload)
{
    return effect == ADDS ? old + payload : effect == REPLACES ? payload : old;
}

void payload_advance(struct experiment *experiment, long long slots)
{
    const struct operation *operation = experiment->operation;
    const int count = (int)slots * experiment->elements;
    for (int region = experiment->known_begin; region < experiment->known_end; region++) {
        struct region *known = &experiment->regions[region];
        for (int i = 0; i < count; i++) {
            if (experiment->is_origin && operation->fetches) {
                verify_element(&experiment->at_origin, experiment->result[i], known->model[i],
                               number_of(experiment, region, i), experiment->sample);
            }
            known->model[i] = advanced(operation->effect, known->model[i], known->payload[i]);
        }
    }
}

void payload_follow(struct experiment *experiment, long long bursts, long long slots)
{
    for (long long i = 0; experiment->operation->effect != KEEPS && i < bursts; i++) {
        fill(experiment, slots);
        payload_advance(experiment, slots);
    }
}

/* Compare a region's elements with the model, and its gaps with what was there from the
 * beginning. */
static void check_region(struct experiment *experiment, int region, const int64_t *memory,
                         struct verification *elements, struct verification *gaps)
{
    for (int i = 0; i < payload_elements(experiment); i++) {
        const size_t number = number_of(experiment, region, i);
        const size_t gap = gap_in_region(experiment, i);
        verify_element(elements, memory[place_in_region(experiment, i)],
                       experiment->regions[region].model[i], number, experiment->sample);
        verify_element(gaps, memory[gap], guard(begin_of(experiment, region) + gap), number,
                       experiment->sample);
    }
}

void payload_check_copy(struct experiment *experiment)
{
    check_region(experiment, experiment->known_begin, experiment->copy, &experiment->read_back,
                 &experiment->read_back);
    memset(experiment->copy, 0, region_elements(experiment) * sizeof(int64_t));
}

void payload_check(struct experiment *experiment)
{
    watchdog_phase = "verify";
    if (experiment->is_target) {
        begin_own_epoch(experiment, MPI_LOCK_SHARED);
        for (int region = 0; region < experiment->origins; region++) {
            check_region(experiment, region, experiment->memory + begin_of(experiment, region),
                         &experiment->at_target, &experiment->in_gaps);
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
    const size_t elements = (size_t)payload_elements(experiment);
    experiment->result = allocate(elements, sizeof(int64_t));
    experiment->compared = allocate(elements, sizeof(int64_t));
    experiment->copy = allocate(region_elements(experiment), sizeof(int64_t));
    experiment->regions = allocate((size_t)experiment->origins, sizeof experiment->regions[0]);
    experiment->known_begin = experiment->is_origin ? experiment->place - 1 : 0;
    experiment->known_end = experiment->is_origin   ? experiment->place
                            : experiment->is_target ? experiment->origins
                                                    : 0;
    for (int region = experiment->known_begin; region < experiment->known_end; region++) {
        struct region *known = &experiment->regions[region];
        *known = (struct region){.payload = allocate(elements, sizeof(int64_t)),
                                 .model = allocate(elements, sizeof(int64_t))};
        experiment->payload = known->payload;
        for (int i = 0; i < payload_elements(experiment); i++) {
            known->model[i] = element_of_sample(0, number_of(experiment, region, i));
        }
    }
}

void payload_free(struct experiment *experiment)
{
    for (int region = experiment->known_begin; region < experiment->known_end; region++) {
        free(experiment->regions[region].payload);
        free(experiment->regions[region].model);
    }
    free(experiment->regions);
    free(experiment->copy);
    free(experiment->compared);
    free(experiment->result);
}
