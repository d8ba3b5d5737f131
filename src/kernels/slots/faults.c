/* For tests: faults of one operation, at its origin. */
#include "slots/words.h"

/* The element that has it: the last of the burst; where the data is wrong once, of the first slot.
 */
static int faulted(const struct slots *slots, int elements)
{
    const bool is_once = launch_injects(slots->launch, slots->cell, INJECT_WRONG_DATA);
    return (is_once ? slots->elements : elements) - 1;
}

static bool is_wrong(const struct slots *slots)
{
    return slots->sample == 1 && launch_injects(slots->launch, slots->cell, INJECT_WRONG_DATA);
}

/* Wrong data is another bit in the first sample, from the last origin. */
static enum injection fault_of(const struct slots *slots)
{
    return is_wrong(slots) && slots->end == slots->origins
               ? INJECT_FLIP
               : launch_fault(slots->launch, slots->cell);
}

/* What an operation with this fault sends: nothing new, it twice, that of the one before, ... */
static int64_t faulty_word(struct rule rule, enum injection fault, int64_t sent, int64_t model,
                           int64_t before)
{
    const bool adds = rule.operation == SUM || rule.operation == PROD;
    if (fault == INJECT_DROP) {
        return adds ? word_of(rule, rule.operation == PROD) : model;
    }
    if (fault == INJECT_REPEAT) {
        return adds ? reduced(rule, sent, sent) : before;
    }
    return faulty_number(fault, sent, 0);
}

void begin_fault(const struct slots *slots, int elements)
{
    const enum injection fault = fault_of(slots);
    const int last = faulted(slots, elements);
    if (fault == INJECT_NOTHING || slots->begin == slots->end || elements == 0) {
        return;
    }
    const struct region *own = &slots->region[slots->end - 1];
    const size_t bytes = slots->element->bytes;
    char *place = (char *)own->sent + last * slots->stride_bytes;
    const int64_t model = own->model[last];
    const int64_t before = last > 0 ? load(place - slots->stride_bytes, bytes) : model;
    store(place, faulty_word(rule_of(slots), fault, load(place, bytes), model, before), bytes);
}

void end_fault(const struct slots *slots, int elements)
{
    const enum injection fault = fault_of(slots);
    const int last = faulted(slots, elements);
    if (fault == INJECT_NOTHING || slots->begin == slots->end || elements == 0) {
        return;
    }
    const struct region *own = &slots->region[slots->end - 1];
    const size_t bytes = slots->element->bytes, at = (size_t)last * (size_t)slots->stride_bytes;
    const int64_t sent = word_at_origin(slots, rule_of(slots), own->model[last],
                                        number_of(slots, slots->end - 1, last));
    store((char *)own->sent + at, sent, bytes);
    if (slots->makes->fetches) {
        char *result = (char *)own->result + at;
        const int64_t before = load(last > 0 ? result - slots->stride_bytes : result, bytes);
        const enum injection fetched = launch_fault(slots->launch, slots->cell);
        store(result, faulty_number(fetched, load(result, bytes), before), bytes);
    }
}

void fault_stored(const struct slots *slots, char *memory)
{
    const size_t bytes = slots->element->bytes;
    char *place = memory + place_of(slots, slots->elements - 1);
    if (is_wrong(slots) && slots->reduces->operation == NO_OP) {
        store(place, faulty_number(INJECT_FLIP, load(place, bytes), 0), bytes);
    }
}
