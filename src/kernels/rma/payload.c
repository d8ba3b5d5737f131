/* Payloads, and what must become of them at the target and at the origin. */
#include "rma/payload.h"

#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"
#include "harness/watchdog.h"

/* ---- Where elements are ---- */

/* Of all slots of a region, without gaps. */
static int payload_elements(const struct payload *payload)
{
    return payload->slots * payload->elements;
}

static size_t slot_elements(const struct payload *payload)
{
    return (payload->layout == NULL ? 1 : 2) * (size_t)payload->elements;
}

size_t region_elements(const struct payload *payload)
{
    return (size_t)payload->slots * slot_elements(payload) + SPARE_ELEMENTS;
}

/* Regions that the target has. */
static int regions_there(const struct payload *payload)
{
    return payload->is_common ? 1 : payload->regions;
}

MPI_Aint payload_window_bytes(const struct payload *payload)
{
    const int regions = payload->window_count == 1 ? regions_there(payload) : 1;
    return regions * (MPI_Aint)(region_elements(payload) * sizeof(int64_t));
}

/* The number of an element through all regions. */
static size_t number_of(const struct payload *payload, int region, int element)
{
    return (size_t)region * (size_t)payload_elements(payload) + (size_t)element;
}

static struct window *window_of(const struct payload *payload, int region)
{
    return &payload->windows[payload->window_count == 1 ? 0 : region];
}

/* The first element of a region in its window. */
static size_t begin_of(const struct payload *payload, int region)
{
    const bool is_first = payload->is_common || payload->window_count > 1;
    return is_first ? 0 : (size_t)region * region_elements(payload);
}

/* Where an element is in its region, and the gap that belongs to it. */
static size_t place_of(const struct payload *payload, int element)
{
    const size_t elements = (size_t)payload->elements;
    const size_t slot = (size_t)element / elements;
    return payload->layout == NULL
               ? (size_t)element
               : slot * slot_elements(payload) +
                     payload->layout->place((size_t)element % elements, elements);
}

static size_t gap_of(const struct payload *payload, int element)
{
    const size_t elements = (size_t)payload->elements;
    const size_t slot = (size_t)element / elements;
    return slot * slot_elements(payload) +
           payload->layout->gap((size_t)element % elements, elements);
}

/* What gaps hold, by their place in the window. */
static int64_t guard(size_t place)
{
    return -1 - (int64_t)place;
}

static int known_begin(const struct payload *payload)
{
    return payload->is_target ? 0 : payload->own_begin;
}

static int known_end(const struct payload *payload)
{
    return payload->is_target ? payload->regions : payload->own_end;
}

/* ---- The target's memory ---- */

static void begin_own(struct payload *payload, int lock_type)
{
    for (int i = 0; i < payload->window_count; i++) {
        window_begin_own(&payload->windows[i], lock_type);
    }
}

static void end_own(struct payload *payload)
{
    for (int i = 0; i < payload->window_count; i++) {
        window_end_own(&payload->windows[i]);
    }
}

/* At the target: a region. */
static int64_t *memory_of(const struct payload *payload, int region)
{
    return (int64_t *)window_of(payload, region)->memory + begin_of(payload, region);
}

static void store_models(struct payload *payload, int count)
{
    for (int region = 0; region < regions_there(payload); region++) {
        int64_t *memory = memory_of(payload, region);
        for (int i = 0; i < count; i++) {
            memory[place_of(payload, i)] = payload->region[region].model[i];
        }
    }
}

void payload_initialise(struct payload *payload)
{
    begin_own(payload, MPI_LOCK_EXCLUSIVE);
    for (int region = 0; region < regions_there(payload); region++) {
        int64_t *memory = memory_of(payload, region);
        for (size_t place = 0; place < region_elements(payload); place++) {
            memory[place] = guard(begin_of(payload, region) + place);
        }
    }
    store_models(payload, payload_elements(payload));
    end_own(payload);
}

/* For tests: one element of the last origin that differs from what the model says. */
static void inject_wrong_data(const struct payload *payload, int64_t *element)
{
    if (payload->sample == 1 && launch_injects(payload->launch, payload->cell, INJECT_WRONG_DATA)) {
        *element ^= 1;
    }
}

/* ---- Payloads and model ---- */

/* New payloads. What is got is there from the beginning. */
static void fill(struct payload *payload, long long slots)
{
    const int count = (int)slots * payload->elements;
    payload->sample++;
    for (int region = known_begin(payload); region < known_end(payload); region++) {
        for (int i = 0; i < count; i++) {
            payload->region[region].payload[i] =
                value_of_sample(payload->sample, number_of(payload, region, i));
        }
    }
}

/* What compare_and_swap compares with: the target's element. One that is to fail compares with
 * another value, and has a third to swap in. */
static void expect_old(struct payload *payload, long long slots)
{
    if (!payload->operation->fetches) {
        return;
    }
    for (int region = payload->own_begin; region < payload->own_end; region++) {
        struct region *own = &payload->region[region];
        for (long long i = 0; i < slots * payload->elements; i++) {
            own->compared[i] = own->model[i];
            if (payload->operation->fails) {
                own->compared[i] = ~own->model[i];
                own->payload[i] = own->model[i] + 1;
            }
        }
    }
}

static void forget_results(struct payload *payload, long long slots)
{
    if (!payload->operation->fetches) {
        return;
    }
    for (int region = payload->own_begin; region < payload->own_end; region++) {
        for (long long i = 0; i < slots * payload->elements; i++) {
            payload->region[region].result[i] = -1;
        }
    }
}

/* What is got: at the target, where the operations find it. */
static void store_payloads(struct payload *payload, long long slots)
{
    begin_own(payload, MPI_LOCK_SHARED);
    store_models(payload, (int)slots * payload->elements);
    inject_wrong_data(payload, memory_of(payload, payload->regions - 1) +
                                   place_of(payload, payload->elements - 1));
    end_own(payload);
}

void payload_prepare(struct payload *payload, long long slots)
{
    const size_t bytes = (size_t)slots * (size_t)payload->elements * sizeof(int64_t);
    const bool keeps = payload->operation->effect == KEEPS;
    fill(payload, slots);
    for (int region = known_begin(payload); keeps && region < known_end(payload); region++) {
        memcpy(payload->region[region].model, payload->region[region].payload, bytes);
    }
    expect_old(payload, slots);
    forget_results(payload, slots);
    if (keeps && payload->is_target) {
        store_payloads(payload, slots);
    }
}

void payload_renew(struct payload *payload, long long slots)
{
    if (payload->operation->effect != KEEPS) {
        fill(payload, slots);
        expect_old(payload, slots);
    }
    forget_results(payload, slots);
}

static int64_t advanced(enum effect effect, int64_t old, int64_t payload)
{
    return effect == ADDS ? old + payload : effect == REPLACES ? payload : old;
}

void payload_advance(struct payload *payload, long long slots)
{
    const struct operation *operation = payload->operation;
    const int count = (int)slots * payload->elements;
    for (int region = known_begin(payload); region < known_end(payload); region++) {
        struct region *known = &payload->region[region];
        const bool is_own = payload->own_begin <= region && region < payload->own_end;
        int64_t *model =
            (payload->is_common ? &payload->region[known_begin(payload)] : known)->model;
        for (int i = 0; i < count; i++) {
            if (is_own && operation->fetches) {
                verify_element(&payload->at_origin, known->result[i], model[i],
                               number_of(payload, region, i), payload->sample);
            }
            /* the value itself: what was sent may have been changed where it lies */
            const int64_t sent = value_of_sample(payload->sample, number_of(payload, region, i));
            model[i] = advanced(operation->effect, model[i], sent);
        }
    }
}

/* The element that a fault changes: of the last own region, in the last slot, or in the first one.
 */
static long long faulted(const struct payload *payload, long long slots)
{
    const bool is_first = launch_injects(payload->launch, payload->cell, INJECT_WRONG_DATA);
    return (is_first ? 1 : slots) * payload->elements - 1;
}

void payload_begin_fault(struct payload *payload, long long slots)
{
    const enum injection fault = launch_fault(payload->launch, payload->cell);
    const long long last = faulted(payload, slots);
    if (payload->own_begin == payload->own_end) {
        return;
    }
    const struct region *own = &payload->region[payload->own_end - 1];
    const bool adds = payload->operation->effect == ADDS;
    int64_t *element = &own->payload[last];
    payload->right = *element;
    if (fault == INJECT_DROP) {
        *element = adds ? 0 : own->model[last];
    } else if (fault == INJECT_REPEAT) {
        *element = adds ? 2 * *element : last > 0 ? own->payload[last - 1] : own->model[last];
    } else if (fault == INJECT_FLIP) {
        *element = faulty_number(fault, *element, 0);
    } else if (payload->own_end == payload->regions) {
        inject_wrong_data(payload, element);
    }
}

void payload_end_fault(struct payload *payload, long long slots)
{
    const enum injection fault = launch_fault(payload->launch, payload->cell);
    const long long last = faulted(payload, slots);
    if (payload->own_begin == payload->own_end) {
        return;
    }
    const struct region *own = &payload->region[payload->own_end - 1];
    own->payload[last] = payload->right;
    if (payload->operation->fetches) {
        own->result[last] =
            faulty_number(fault, own->result[last], own->result[last > 0 ? last - 1 : 0]);
    }
}

void payload_follow(struct payload *payload, long long bursts, long long slots)
{
    for (long long i = 0; payload->operation->effect != KEEPS && i < bursts; i++) {
        fill(payload, slots);
        payload_advance(payload, slots);
    }
}

/* ---- What is compared ---- */

/* A region's elements with the model, all else with what was there from the beginning. */
static void check_region(struct payload *payload, int region, const int64_t *memory,
                         struct verification *elements, struct verification *gaps)
{
    const size_t begin = begin_of(payload, region);
    const size_t spare = region_elements(payload) - SPARE_ELEMENTS;
    for (int i = 0; i < payload_elements(payload); i++) {
        verify_element(elements, memory[place_of(payload, i)], payload->region[region].model[i],
                       number_of(payload, region, i), payload->sample);
        if (payload->layout != NULL) {
            const size_t gap = gap_of(payload, i);
            verify_element(gaps, memory[gap], guard(begin + gap), number_of(payload, region, i),
                           payload->sample);
        }
    }
    for (size_t place = spare; place < region_elements(payload); place++) {
        verify_element(gaps, memory[place], guard(begin + place), place, payload->sample);
    }
}

void payload_check_copy(struct payload *payload, int region, const struct transfer *transfer)
{
    int64_t *copy = payload->region[region].copy;
    memset(copy, 0, region_elements(payload) * sizeof(int64_t));
    transfer_read_back(transfer, copy, (int)region_elements(payload));
    check_region(payload, region, copy, &payload->read_back, &payload->read_back);
}

void payload_check(struct payload *payload)
{
    watchdog_phase = "verify";
    if (payload->is_target) {
        begin_own(payload, MPI_LOCK_SHARED);
        for (int region = 0; region < regions_there(payload); region++) {
            check_region(payload, region, memory_of(payload, region), &payload->at_target,
                         &payload->in_gaps);
        }
        end_own(payload);
    }
}

void payload_record(const struct payload *payload, struct record *record)
{
    record_verification(record, payload->at_target);
    record_verification(record, payload->in_gaps);
    if (payload->operation->fetches) {
        record_verification(record, payload->at_origin);
    }
    if (payload->read_back.checked > 0) {
        record_verification(record, payload->read_back);
    }
}

/* ---- Room ---- */

/* Each part on pages of its own: no origin shares a cache line with another. */
void payload_allocate(struct payload *payload)
{
    const size_t bytes = (size_t)payload_elements(payload) * sizeof(int64_t);
    strcpy(payload->at_target.name, "at_target");
    strcpy(payload->in_gaps.name, "in_gaps");
    strcpy(payload->at_origin.name, "at_origin");
    strcpy(payload->read_back.name, "read_back");
    payload->region = allocate((size_t)payload->regions, sizeof payload->region[0]);
    for (int region = known_begin(payload); region < known_end(payload); region++) {
        struct region *known = &payload->region[region];
        known->payload = allocate_pages(bytes);
        known->model = allocate_pages(bytes);
        for (int i = 0; i < payload_elements(payload); i++) {
            known->model[i] = value_of_sample(0, number_of(payload, region, i));
        }
    }
    for (int region = payload->own_begin; region < payload->own_end; region++) {
        struct region *own = &payload->region[region];
        own->result = allocate_pages(bytes);
        own->compared = allocate_pages(bytes);
        own->copy = allocate_pages(region_elements(payload) * sizeof(int64_t));
    }
}

void payload_free(struct payload *payload)
{
    for (int region = 0; region < payload->regions; region++) {
        free(payload->region[region].payload);
        free(payload->region[region].model);
        free(payload->region[region].result);
        free(payload->region[region].compared);
        free(payload->region[region].copy);
    }
    free(payload->region);
}

struct transfer payload_transfer(const struct payload *payload, int region, struct epoch epoch,
                                 struct layout_type type)
{
    const MPI_Aint element_bytes = sizeof(int64_t);
    const struct region *own = &payload->region[region];
    return (struct transfer){.epoch = epoch,
                             .displacement = window_of(payload, region)->begins[epoch.target] +
                                             (MPI_Aint)begin_of(payload, region) * element_bytes,
                             .slot_bytes = (MPI_Aint)slot_elements(payload) * element_bytes,
                             .type = type,
                             .elements = payload->elements,
                             .payload = own->payload,
                             .result = own->result,
                             .compared = own->compared,
                             .request = MPI_REQUEST_NULL};
}
