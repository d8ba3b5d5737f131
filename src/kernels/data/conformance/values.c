/* Values: chosen so that a lost or changed operation leaves another result.
 *
 * The first element of an operation always changes its target; of several operations at one place,
 * the last one changes it. Sums and products are exact in their element. */
#include "data/conformance/values.h"

#include "data/conformance/call.h"

#define WIDE 128 /* numbers that fit into int8 and have more than one bit */

struct draw {
    uint64_t bits;
    bool is_first; /* element of its operation */
    bool is_last;  /* operation at its place */
    bool is_alone; /* at its place */
    long long number;
};

static int within(const struct draw *draw, int least, int count)
{
    return least + (int)(draw->bits % (uint64_t)count);
}

/* 0, or a number that is true but not always 1. */
static int logical(const struct draw *draw, bool is_true)
{
    return is_true ? within(draw, 1, 5) : 0;
}

static long long before(const struct draw *draw, const struct reduction *reduction)
{
    switch (reduction == NULL ? REPLACE : reduction->operation) {
    case SUM:
        return within(draw, 0, 50);
    case PROD:
        return within(draw, 1, 9);
    case MAX:
    case MAXLOC:
    case MIN:
    case MINLOC:
        return within(draw, 40, 40);
    case LAND:
        return logical(draw, true);
    case LOR:
        return logical(draw, !draw->is_first && draw->bits >> 63);
    case LXOR:
        return logical(draw, draw->bits >> 63);
    case BAND:
        return within(draw, 0, WIDE) | 1;
    case BOR:
        return within(draw, 0, WIDE) & ~1;
    case BXOR:
        return within(draw, 0, WIDE);
    default:
        return (long long)(draw->bits & ~UINT64_C(1));
    }
}

static long long sent(const struct draw *draw, const struct reduction *reduction)
{
    const bool decides = draw->is_first && draw->is_last;
    const bool does_nothing = draw->is_first && !draw->is_last;
    switch (reduction == NULL ? REPLACE : reduction->operation) {
    case SUM:
        return draw->is_alone ? within(draw, 1, 50) : within(draw, 1, 3);
    case PROD:
        return draw->is_alone ? within(draw, 2, 4) : draw->number == 0 ? 3 : -1;
    case MAX:
    case MAXLOC:
        return decides ? within(draw, 121, 6) : within(draw, 0, 120);
    case MIN:
    case MINLOC:
        return decides ? within(draw, 0, 6) : within(draw, 7, 120);
    case LAND:
        return logical(draw, !decides && (does_nothing || draw->bits >> 63));
    case LOR:
        return logical(draw, decides || (!does_nothing && draw->bits >> 63));
    case LXOR:
        return logical(draw, draw->is_first || draw->bits >> 63);
    case BAND:
        return decides ? within(draw, 0, WIDE) & ~1
                       : within(draw, 0, WIDE) | (does_nothing ? 1 : 0);
    case BOR:
        return decides ? within(draw, 0, WIDE) | 1
                       : within(draw, 0, WIDE) & (does_nothing ? ~1 : ~0);
    case BXOR:
        return within(draw, 1, WIDE - 1);
    default:
        return (long long)(draw->bits | 1);
    }
}

static uint64_t bits_of(const struct plan *plan, int window, int rank, long long number,
                        long long element)
{
    const int round = plan->round - (number < 0);
    number = number < 0 ? plan->outstanding - 1 : number;
    const uint64_t place = mixed(plan->seed, (uint64_t)((round + 1) * WINDOWS_MAX + window));
    return mixed(mixed(place, (uint64_t)(rank + 1)), (uint64_t)(number << 32) + (uint64_t)element);
}

/* A logical value that is moved as a whole is 0 or 1. */
static bool is_logical_alone(const struct element *element)
{
    return is_allowed(element, LAND) && !is_allowed(element, BAND);
}

static void set(const struct plan *plan, void *place, long long number, uint64_t bits)
{
    const bool is_moved = plan->reduction == NULL || plan->reduction->operation >= REPLACE;
    number = is_moved && is_logical_alone(plan->element) ? number & 1 : number;
    plan->element->set(place, number, (int)(bits >> 40) & 1023);
}

void value_before(const struct plan *plan, int window, long long slot, long long element,
                  void *place)
{
    const uint64_t bits = bits_of(plan, window, -1, slot, element);
    const struct draw draw = {.bits = bits, .is_first = element == 0};
    set(plan, place, before(&draw, plan->reduction), bits);
}

void value_sent(const struct plan *plan, int window, int rank, long long number, long long element,
                void *place)
{
    const uint64_t bits = bits_of(plan, window, rank, number, element);
    const bool is_alone = plan->overlap == APART;
    const struct draw draw = {.bits = bits,
                              .is_first = element == 0,
                              .is_last = is_alone || number < 0 || number == plan->outstanding - 1,
                              .is_alone = is_alone,
                              .number = number};
    long long value = sent(&draw, plan->reduction);
    const bool is_pair = is_allowed(plan->element, MAXLOC);
    if (is_pair && element > 0 && is_alone && plan->reduction != NULL && bits % 3 == 0 &&
        number >= 0) {
        /* a tie: the index decides */
        const struct draw other = {.bits = bits_of(plan, window, -1, number, element)};
        value = before(&other, plan->reduction);
    }
    set(plan, place, value, bits);
}

bool is_to_swap(const struct plan *plan, int window, int rank, long long number)
{
    return number == plan->outstanding - 1 || bits_of(plan, window, rank, number, 0) >> 63;
}
