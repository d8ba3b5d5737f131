/* The model: the expected values of a window, and of the data fetched from it. */
#include "data/conformance/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/conformance/call.h"
#include "data/conformance/values.h"
#include "harness/memory.h"

/* One operation on one element. */
static void combine(const struct plan *plan, void *state, const void *sent, const void *compare)
{
    const struct element *element = plan->element;
    const enum operator_kind operation =
        plan->reduction == NULL ? REPLACE : plan->reduction->operation;
    if (plan->call->compares && !is_same(element, state, compare)) {
        return;
    }
    if (!plan->call->sends || operation == NO_OP) {
        return;
    }
    if (operation == REPLACE) {
        memcpy(state, sent, element->bytes);
    } else {
        element->apply(operation, state, sent);
    }
}

static void make_one(const struct plan *plan, struct model *model, int window, int rank,
                     long long number)
{
    const struct element *element = plan->element;
    const size_t bytes = element->bytes;
    const long long slot = plan->overlap == APART ? number : 0;
    for (long long i = 0; i < plan->elements; i++) {
        unsigned char *const state = model->state + (size_t)(slot * plan->elements + i) * bytes;
        unsigned char sent[ELEMENT_BYTES_MAX] = {0}, compare[ELEMENT_BYTES_MAX] = {0};
        unsigned char found[ELEMENT_BYTES_MAX] = {0};
        value_sent(plan, window, rank, number, i, sent);
        memcpy(found, state, bytes);
        memcpy(compare, is_to_swap(plan, window, rank, number) ? found : sent, bytes);
        combine(plan, state, sent, compare);
        if (rank == plan->launch->rank) {
            const size_t at = (size_t)(number * plan->elements + i) * bytes;
            memcpy(model->sent + at, sent, bytes);
            memcpy(model->fetched + at, found, bytes);
            memcpy(model->compare + at, compare, bytes);
        }
    }
}

struct model model_make(const struct plan *plan, int window)
{
    const size_t bytes = plan->element->bytes;
    const size_t elements = (size_t)(plan->outstanding * plan->elements);
    struct model model = {.before = allocate(elements + 1, bytes),
                          .state = allocate(elements + 1, bytes),
                          .sent = allocate(elements + 1, bytes),
                          .fetched = allocate(elements + 1, bytes),
                          .compare = allocate(elements + 1, bytes)};
    for (long long slot = 0; slot < target_slots(plan); slot++) {
        for (long long i = 0; i < plan->elements; i++) {
            value_before(plan, window, slot, i,
                         model.state + (size_t)(slot * plan->elements + i) * bytes);
        }
    }
    memcpy(model.before, model.state, elements * bytes);
    for (int rank = 0; rank < plan->launch->ranks; rank++) {
        for (long long number = 0; is_origin(plan, rank) && number < plan->outstanding; number++) {
            make_one(plan, &model, window, rank, number);
        }
    }
    return model;
}

void model_free(struct model *model)
{
    free(model->before);
    free(model->state);
    free(model->sent);
    free(model->fetched);
    free(model->compare);
}

static void draw_bytes(const struct memory *memory, unsigned char *bytes)
{
    for (MPI_Aint i = 0; i < memory->size; i++) {
        bytes[i] = (unsigned char)(mixed(memory->seed, (uint64_t)i / 8) >> 8 * (i % 8));
    }
}

static unsigned char *place_of(const struct memory *memory, unsigned char *bytes, long long slot,
                               long long element)
{
    return bytes + memory->begin + placed_at(memory->placed, slot, element);
}

static void scatter(const struct memory *memory, const struct element *element,
                    unsigned char *bytes, long long slot, const unsigned char *elements)
{
    for (long long i = 0; i < memory->elements; i++) {
        memcpy(place_of(memory, bytes, slot, i), elements + (size_t)i * element->bytes,
               element->bytes);
    }
}

void memory_set(const struct memory *memory, const struct element *element, long long slot,
                const unsigned char *elements)
{
    scatter(memory, element, memory->bytes, slot, elements);
}

static void fill(const struct memory *memory, const struct element *element, unsigned char *bytes,
                 const unsigned char *elements)
{
    const size_t slot_bytes = (size_t)memory->elements * element->bytes;
    draw_bytes(memory, bytes);
    for (long long slot = 0; elements != NULL && slot < memory->slots; slot++) {
        scatter(memory, element, bytes, slot, elements + (size_t)slot * slot_bytes);
    }
}

void memory_fill(const struct memory *memory, const struct element *element,
                 const unsigned char *elements)
{
    fill(memory, element, memory->bytes, elements);
}

__attribute__((format(printf, 2, 3))) static void mismatch(struct verification *result,
                                                           const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (result->errors++ == 0) {
        vsnprintf(result->first_mismatch, sizeof result->first_mismatch, format, arguments);
    }
    va_end(arguments);
}

static const char *hexadecimal(char *text, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sprintf(text + 2 * i, "%02x", bytes[i]);
    }
    return text;
}

static void compare_element(const struct memory *memory, const struct element *element,
                            unsigned char *expected, long long slot, long long number,
                            struct verification *result)
{
    unsigned char *const is = place_of(memory, memory->bytes, slot, number);
    unsigned char *const must = place_of(memory, expected, slot, number);
    char one[2 * ELEMENT_BYTES_MAX + 1] = "", other[2 * ELEMENT_BYTES_MAX + 1] = "";
    if (!is_same(element, is, must)) {
        mismatch(result, "%s, operation %lld, element %lld: found %s, expected %s", memory->name,
                 slot, number, hexadecimal(one, is, element->bytes),
                 hexadecimal(other, must, element->bytes));
    }
    memcpy(must, is, element->bytes);
}

void memory_compare(const struct memory *memory, const struct element *element,
                    const unsigned char *elements, struct verification *result)
{
    unsigned char *expected = allocate((size_t)memory->size + 1, 1);
    fill(memory, element, expected, elements);
    for (long long slot = 0; elements != NULL && slot < memory->slots; slot++) {
        for (long long i = 0; i < memory->elements; i++) {
            compare_element(memory, element, expected, slot, i, result);
        }
    }
    for (MPI_Aint i = 0; i < memory->size; i++) {
        if (memory->bytes[i] != expected[i]) {
            mismatch(result, "%s: byte %td, which no operation accesses: found %02x, expected %02x",
                     memory->name, (ptrdiff_t)i, memory->bytes[i], expected[i]);
        }
    }
    result->checked += memory->size;
    free(expected);
}
