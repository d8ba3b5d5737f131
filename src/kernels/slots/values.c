/* The values of slots: new values before a burst, and their verification after it. */
#include "harness/watchdog.h"
#include "mpi/checked.h"
#include "slots/words.h"

#define UNTOUCHED 0x5A5A5A5A5A5A5A5A /* a result before a fetch */

/* The value of a gap, by its place in the window. */
static int64_t guard(size_t place)
{
    return -1 - (int64_t)(place / WORD_BYTES);
}

/* ---- New values ---- */

/* Begin the target's loads and stores. */
static void begin_own(const struct slots *slots, int lock_type)
{
    for (int i = 0; !slots->posts && i < slots->windows; i++) {
        window_begin_own(&slots->window[i], lock_type);
    }
}

static void end_own(const struct slots *slots)
{
    for (int i = 0; !slots->posts && i < slots->windows; i++) {
        window_end_own(&slots->window[i]);
    }
}

static void store_models(const struct slots *slots, int elements)
{
    for (int region = 0; region < regions_there(slots); region++) {
        char *memory = region_memory(slots, region);
        for (int i = 0; i < elements; i++) {
            store(memory + place_of(slots, i), slots->region[region].model[i],
                  slots->element->bytes);
        }
    }
}

void values_initialise(const struct slots *slots)
{
    begin_own(slots, MPI_LOCK_EXCLUSIVE);
    for (int region = 0; region < regions_there(slots); region++) {
        char *memory = region_memory(slots, region);
        for (size_t place = 0; place + WORD_BYTES <= region_bytes(slots); place += WORD_BYTES) {
            store(memory + place, guard(region_begin(slots, region) + place), WORD_BYTES);
        }
    }
    store_models(slots, all_elements(slots));
    end_own(slots);
}

/* Set the models of so many elements of each region to the values of the sample. */
static void renew_models(const struct slots *slots, int elements)
{
    const struct rule rule = rule_of(slots);
    const uint64_t sample = slots->sample;
    for (int region = known_begin(slots); region < known_end(slots); region++) {
        int64_t *model = slots->region[region].model;
        const size_t first = number_of(slots, region, 0);
        for (int i = 0; i < elements; i++) {
            model[i] = word_before(rule, sample, first + (size_t)i);
        }
    }
}

void values_begin(const struct slots *slots)
{
    renew_models(slots, all_elements(slots));
}

/* Does the target get new values for each burst? It must if the operations do not change them. */
static bool is_renewed(const struct slots *slots)
{
    return slots->is_new || slots->reduces->operation == NO_OP;
}

/* At an origin: set the data to send, and the data to compare with. */
static void renew_sent(const struct slots *slots, int elements)
{
    const struct rule rule = rule_of(slots);
    const size_t bytes = slots->element->bytes;
    for (int region = slots->begin; region < slots->end; region++) {
        const struct region *own = &slots->region[region];
        const size_t first = number_of(slots, region, 0);
        for (int i = 0; i < elements; i++) {
            const size_t place = (size_t)i * (size_t)slots->stride_bytes;
            const int64_t model = own->model[i];
            store((char *)own->sent + place, word_at_origin(slots, rule, model, first + (size_t)i),
                  bytes);
            if (slots->makes->fetches || slots->fetches) {
                store((char *)own->compared + place, slots->makes->fails ? ~model : model, bytes);
                store((char *)own->result + place, UNTOUCHED, bytes);
            }
        }
    }
}

void slots_prepare_alone(struct slots *slots, long long burst)
{
    expect_stage(slots, PREPARED, "slots_prepare_alone");
    slots->sample += is_renewed(slots) ? 0 : 1; /* values that are only fetched stay */
    renew_sent(slots, (int)burst * slots->elements);
}

void slots_prepare(void *state, long long burst)
{
    struct slots *slots = state;
    const int elements = (int)burst * slots->elements;
    expect_stage(slots, OPEN, "slots_prepare");
    slots->sample++;
    slots->stage = PREPARED;
    if (is_renewed(slots)) {
        renew_models(slots, elements);
        if (slots->is_target) {
            begin_own(slots, MPI_LOCK_SHARED);
            store_models(slots, elements);
            end_own(slots);
        }
    }
    renew_sent(slots, elements);
    if (slots->posts && slots->is_target) {
        CHECKED(MPI_Win_post(slots->transfer.epoch.peers, 0, slots->transfer.epoch.window));
    }
}

/* ---- Verification ---- */

static void check_results(struct slots *slots, int region, int elements)
{
    const struct region *own = &slots->region[region];
    const int64_t *model = slots->region[slots->is_common ? known_begin(slots) : region].model;
    const size_t bytes = slots->element->bytes;
    const char *result = own->result;
    for (int i = 0; i < elements; i++) {
        verify_element(&slots->at_origin, load(result + i * slots->stride_bytes, bytes), model[i],
                       number_of(slots, region, i), slots->sample);
    }
}

/* Apply a burst to the models. The sent data are computed again: a library may have changed
 * them. */
static void advance(struct slots *slots, int elements)
{
    const struct rule rule = rule_of(slots);
    const uint64_t sample = slots->sample;
    for (int region = known_begin(slots); region < known_end(slots); region++) {
        int64_t *model = slots->region[slots->is_common ? known_begin(slots) : region].model;
        const size_t first = number_of(slots, region, 0);
        for (int i = 0; i < elements && rule.operation != NO_OP; i++) {
            model[i] = reduced(rule, model[i], word_sent(rule, sample, first + (size_t)i));
        }
    }
}

/* At the origins: verify the fetched data. At ranks with models: apply the burst to the models. */
static void look_and_advance(struct slots *slots, long long burst)
{
    const int elements = (int)burst * slots->elements;
    for (int region = slots->begin; slots->makes->fetches && region < slots->end; region++) {
        check_results(slots, region, elements);
    }
    if (slots->compare != NULL && slots->begin < slots->end) {
        slots->compare(slots, burst);
    }
    advance(slots, elements);
}

/* Compare a region's elements with the model, and all other bytes with their first content. */
static void check_region(struct slots *slots, int region, const char *memory,
                         struct verification *elements, struct verification *gaps)
{
    const size_t begin = region_begin(slots, region), bytes = slots->element->bytes;
    const size_t stride = (size_t)slots->stride_bytes, first = number_of(slots, region, 0);
    const int64_t *model = slots->region[region].model;
    const uint64_t sample = slots->sample;
    const int count = all_elements(slots);
    for (int i = 0; i < count; i++) {
        const size_t place = place_of(slots, i), number = first + (size_t)i;
        verify_element(elements, load(memory + place, bytes), model[i], number, sample);
        if (stride > bytes) {
            verify_element(elements, load(memory + place + bytes, stride - bytes),
                           guard(begin + place + bytes), number, sample);
        }
        if (slots->layout != NULL) {
            const size_t gap = place_by(slots, i, slots->layout->gap);
            verify_element(gaps, load(memory + gap, bytes), guard(begin + gap), number, sample);
        }
    }
    for (size_t place = spare_begin(slots); place < region_bytes(slots); place += stride) {
        verify_element(gaps, load(memory + place, bytes), guard(begin + place), place,
                       slots->sample);
    }
}

void slots_check_alone(struct slots *slots, const struct transfer *transfer, long long burst)
{
    expect_stage(slots, PREPARED, "slots_check_alone");
    look_and_advance(slots, burst);
    if (is_read_back(slots->makes)) {
        char *copy = slots->region[slots->begin].copy;
        memset(copy, 0, region_bytes(slots));
        transfer_read_back(transfer, (int64_t *)(void *)copy,
                           (int)(region_bytes(slots) / WORD_BYTES));
        check_region(slots, slots->begin, copy, &slots->read_back, &slots->read_back);
    }
}

void slots_follow(struct slots *slots, long long bursts, long long burst)
{
    expect_stage(slots, PREPARED, "slots_follow");
    for (long long i = 0; !is_renewed(slots) && i < bursts; i++) {
        slots->sample++;
        advance(slots, (int)burst * slots->elements);
    }
}

void slots_check(void *state, long long burst)
{
    struct slots *slots = state;
    expect_stage(slots, PREPARED, "slots_check");
    if (slots->posts && slots->is_target) {
        CHECKED(MPI_Win_wait(slots->transfer.epoch.window));
    }
    watchdog_phase = "verify";
    look_and_advance(slots, burst);
    if (slots->is_target) {
        begin_own(slots, MPI_LOCK_SHARED);
        for (int region = 0; region < regions_there(slots); region++) {
            check_region(slots, region, region_memory(slots, region), &slots->at_target,
                         &slots->in_gaps);
        }
        end_own(slots);
    }
    slots->stage = OPEN;
}
