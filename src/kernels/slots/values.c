/* What slots hold: new values before a burst, and what must have become of them after it. */
#include <string.h>

#include "harness/watchdog.h"
#include "mpi/checked.h"
#include "slots/inside.h"
#include "slots/messages.h"

#define NUMBERS 1000                 /* sums and products of two are exact in every element */
#define UNTOUCHED 0x5A5A5A5A5A5A5A5A /* a result that nobody has fetched */

/* ---- Where elements are ---- */

/* Of all slots of a region, without gaps. */
int all_elements(const struct slots *slots)
{
    return slots->count * slots->elements;
}

size_t slot_bytes(const struct slots *slots)
{
    const size_t places = (slots->layout == NULL ? 1 : 2) * (size_t)slots->elements;
    return places * (size_t)slots->stride_bytes;
}

static size_t spare_begin(const struct slots *slots)
{
    return (size_t)slots->count * slot_bytes(slots);
}

size_t region_bytes(const struct slots *slots)
{
    return spare_begin(slots) + (size_t)(slots->spare * slots->stride_bytes);
}

/* Regions that the target has, and of which this rank knows what they must hold. */
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

/* Bytes before a region in its window. */
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

/* The number of an element through all regions. */
static size_t number_of(const struct slots *slots, int region, int element)
{
    return (size_t)region * (size_t)all_elements(slots) + (size_t)element;
}

/* Where an element is in its region, and the gap that belongs to it. */
static size_t place_by(const struct slots *slots, int element,
                       size_t (*place)(size_t element, size_t elements))
{
    const size_t elements = (size_t)slots->elements, number = (size_t)element;
    return number / elements * slot_bytes(slots) +
           place(number % elements, elements) * (size_t)slots->stride_bytes;
}

INLINE size_t place_of(const struct slots *slots, int element)
{
    return slots->layout == NULL ? (size_t)element * (size_t)slots->stride_bytes
                                 : place_by(slots, element, slots->layout->place);
}

/* What gaps hold, by their place in the window. */
static int64_t guard(size_t place)
{
    return -1 - (int64_t)(place / WORD_BYTES);
}

/* ---- Elements as words; inline: the longer a check takes, the dearer is a large message ---- */

INLINE int64_t load(const void *place, size_t bytes)
{
    int64_t word = 0;
    if (bytes == WORD_BYTES) {
        memcpy(&word, place, WORD_BYTES);
    } else {
        memcpy(&word, place, bytes);
    }
    return word;
}

INLINE void store(void *place, int64_t word, size_t bytes)
{
    if (bytes == WORD_BYTES) {
        memcpy(place, &word, WORD_BYTES);
    } else {
        memcpy(place, &word, bytes);
    }
}

/* How values are made, apart from all that a store may change: compilers keep it in registers. */
struct rule {
    const struct element *element;
    enum operator_kind operation;
    bool is_int64;
};

static struct rule rule_of(const struct slots *slots)
{
    return (struct rule){.element = slots->element,
                         .operation = slots->reduces->operation,
                         .is_int64 = slots->element->handle == MPI_INT64_T};
}

INLINE int64_t word_of(struct rule rule, long long number)
{
    int64_t word = 0;
    if (rule.is_int64) {
        return number;
    }
    rule.element->set(&word, number, 0);
    return word;
}

/* Small where the result would be no whole number, or too great. */
INLINE long long draw(struct rule rule, uint64_t sample, size_t number)
{
    const long long drawn = value_of_sample(sample, number);
    return rule.is_int64 && rule.operation != PROD ? drawn : drawn % NUMBERS;
}

/* What the target has before: of each operator a value that any origin's changes. */
INLINE int64_t word_before(struct rule rule, uint64_t sample, size_t number)
{
    const long long drawn = draw(rule, sample, 2 * number);
    return word_of(rule, rule.operation == PROD   ? 1 + drawn
                         : rule.operation == BAND ? -1
                         : rule.operation == MAX  ? drawn % NUMBERS
                                                  : drawn);
}

/* What an origin sends. */
INLINE int64_t word_sent(struct rule rule, uint64_t sample, size_t number)
{
    const bool is_greater = rule.operation == MAX || rule.operation == REPLACE;
    return word_of(rule, (is_greater ? NUMBERS : 2) + draw(rule, sample, 2 * number + 1));
}

/* What becomes of the target's element. */
INLINE int64_t reduced(struct rule rule, int64_t before, int64_t sent)
{
    if (rule.operation == REPLACE || rule.operation == NO_OP) {
        return rule.operation == REPLACE ? sent : before;
    }
    if (rule.operation == SUM && rule.is_int64) {
        return before + sent;
    }
    rule.element->apply(rule.operation, &before, &sent);
    return before;
}

/* ---- New values ---- */

/* The target's loads and stores. */
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

void values_begin(const struct slots *slots)
{
    for (int region = known_begin(slots); region < known_end(slots); region++) {
        for (int i = 0; i < all_elements(slots); i++) {
            slots->region[region].model[i] =
                word_before(rule_of(slots), 0, number_of(slots, region, i));
        }
    }
}

/* Is what the target has new for each burst? It has to be where nothing else changes it. */
static bool is_renewed(const struct slots *slots)
{
    return slots->is_new || slots->reduces->operation == NO_OP;
}

static void renew_models(const struct slots *slots, int elements)
{
    for (int region = known_begin(slots); region < known_end(slots); region++) {
        for (int i = 0; i < elements; i++) {
            slots->region[region].model[i] =
                word_before(rule_of(slots), slots->sample, number_of(slots, region, i));
        }
    }
    if (slots->is_target) {
        begin_own(slots, MPI_LOCK_SHARED);
        store_models(slots, elements);
        end_own(slots);
    }
}

/* At an origin. A compare_and_swap that is to fail compares with another value than the target's,
 * and has a third to swap in. */
static void renew_sent(const struct slots *slots, int region, int elements)
{
    const struct region *own = &slots->region[region];
    const struct rule rule = rule_of(slots);
    const size_t bytes = slots->element->bytes, first = number_of(slots, region, 0);
    const uint64_t sample = slots->sample;
    for (int i = 0; i < elements; i++) {
        const size_t place = (size_t)i * (size_t)slots->stride_bytes;
        const int64_t model = own->model[i];
        const int64_t sent = word_sent(rule, sample, first + (size_t)i);
        store((char *)own->sent + place, slots->makes->fails ? model + 1 : sent, bytes);
        if (slots->makes->fetches) {
            store((char *)own->compared + place, slots->makes->fails ? ~model : model, bytes);
            store((char *)own->result + place, UNTOUCHED, bytes);
        }
    }
}

void slots_prepare_alone(struct slots *slots, long long burst)
{
    expect_stage(slots, PREPARED, "slots_prepare_alone");
    slots->sample += is_renewed(slots) ? 0 : 1; /* what is got stays */
    for (int region = slots->begin; region < slots->end; region++) {
        renew_sent(slots, region, (int)burst * slots->elements);
    }
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
    }
    for (int region = slots->begin; region < slots->end; region++) {
        renew_sent(slots, region, elements);
    }
    if (slots->posts && slots->is_target) {
        CHECKED(MPI_Win_post(slots->transfer.epoch.peers, 0, slots->transfer.epoch.window));
    }
}

/* ---- What is compared ---- */

/* For tests: the first element of a region that arrived. */
static void spoil(const struct slots *slots, void *arrived)
{
    if (is_spoilt(slots->launch, slots->cell, slots->sample)) {
        *(int32_t *)arrived ^= 1 << 20;
    }
}

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

/* Move the models on by a burst. What was sent is made again: where it lay it may have changed. */
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

/* At the origins: what was fetched; at all ranks that know of it: what has become of the target. */
static void look_and_advance(struct slots *slots, long long burst)
{
    const int elements = (int)burst * slots->elements;
    for (int region = slots->begin; region < slots->end && elements > 0; region++) {
        if (slots->makes->fetches) {
            if (region == slots->origins - 1) {
                spoil(slots, slots->region[region].result);
            }
            check_results(slots, region, elements);
        }
    }
    if (slots->compare != NULL && slots->begin < slots->end) {
        slots->compare(slots, burst);
    }
    advance(slots, elements);
}

/* A region's elements with the model, all else with what was there from the beginning. */
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
        spoil(slots, copy + place_of(slots, 0));
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
        spoil(slots, region_memory(slots, regions_there(slots) - 1) + place_of(slots, 0));
        for (int region = 0; region < regions_there(slots); region++) {
            check_region(slots, region, region_memory(slots, region), &slots->at_target,
                         &slots->in_gaps);
        }
        end_own(slots);
    }
    slots->stage = OPEN;
}
