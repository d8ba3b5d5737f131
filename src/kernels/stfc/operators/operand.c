/* Operands: what an accumulate takes and what it finds, with values and a model in plain C. */
#include "stfc/operators/operand.h"

#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"
#include "mpi/checked.h"

#define GAP 0xA5       /* what lies between two elements */
#define UNTOUCHED 0x5A /* a result that nobody has fetched */
#define NUMBERS 1000   /* sums and products of two are exact in every element */

const struct operand operands[] = {
    {"int32", "int32", 1, sizeof(int32_t)},
    {"int64", "int64", 1, sizeof(int64_t)},
    {"double", "double", 1, sizeof(double)},
    {"struct", "double", 2, 2 * sizeof(double)},
};

const struct element *element_of(const struct operand *operand)
{
    const struct element *row = elements;
    while (strcmp(row->name, operand->element) != 0) {
        row++;
    }
    return row;
}

int operand_bytes(const struct operand *operand)
{
    return operand->parts * operand->stride;
}

MPI_Datatype operand_make_type(const struct operand *operand)
{
    const MPI_Datatype element = element_of(operand)->handle;
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {0, operand->stride};
    const MPI_Datatype types[] = {element, element};
    MPI_Datatype type = element;
    if (operand->parts > 1) {
        CHECKED(MPI_Type_create_struct(operand->parts, lengths, places, types, &type));
        CHECKED(MPI_Type_commit(&type));
    }
    return type;
}

void operand_free_type(const struct operand *operand, MPI_Datatype *type)
{
    if (operand->parts > 1) {
        CHECKED(MPI_Type_free(type));
    }
}

/* ---- Values ---- */

/* Of an element among all origins' slots. */
static size_t number_of(const struct slots *slots, int origin, long long slot, int part)
{
    const size_t place = (size_t)(origin - 1) * (size_t)slots->count + (size_t)slot;
    return place * (size_t)slots->operand->parts + (size_t)part;
}

/* What the target has before the burst: of each operator a value that any origin's changes. */
static long long before(const struct slots *slots, uint64_t sample, size_t number)
{
    const long long drawn = value_of_sample(sample, 2 * number) % NUMBERS;
    return slots->reduction->operation == PROD   ? 1 + drawn
           : slots->reduction->operation == BAND ? -1
                                                 : drawn;
}

static long long sent(const struct slots *slots, uint64_t sample, size_t number)
{
    const long long drawn = value_of_sample(sample, 2 * number + 1) % NUMBERS;
    return slots->reduction->operation == MAX || slots->reduction->operation == REPLACE
               ? NUMBERS + drawn
               : 2 + drawn;
}

/* What changes nothing. */
static long long neutral(const struct slots *slots, size_t number)
{
    return slots->reduction->operation == SUM    ? 0
           : slots->reduction->operation == PROD ? 1
                                                 : before(slots, slots->sample, number);
}

static char *part_of(const struct slots *slots, char *memory, long long slot, int part)
{
    return memory + slot * operand_bytes(slots->operand) + (long)part * slots->operand->stride;
}

/* For tests: of the last operation of a burst, or of the first of all, another value than it should
 * have. `nothing`: as if the operation had not been; `stale`: as one before it had it. */
static void alter(const struct slots *slots, long long slot, long long burst, char *place,
                  long long nothing, long long stale)
{
    const enum injection fault = launch_fault(slots->launch, slots->cell);
    const bool is_first = launch_injects(slots->launch, slots->cell, INJECT_WRONG_DATA) &&
                          slots->sample == 1 && slot == 0;
    if (is_first || (fault == INJECT_FLIP && slot == burst - 1)) {
        place[2] ^= 0x10;
    } else if (fault == INJECT_DROP && slot == burst - 1) {
        slots->element->set(place, nothing, 0);
    } else if (fault == INJECT_REPEAT && slot == burst - 1) {
        slots->element->set(place, stale, 0);
    }
}

static void renew_target(const struct slots *slots, char *memory)
{
    const size_t bytes = (size_t)slots->count * (size_t)operand_bytes(slots->operand);
    memset(memory, GAP, (size_t)slots->origins * bytes);
    for (int origin = 1; origin <= slots->origins; origin++) {
        char *own = memory + (size_t)(origin - 1) * bytes;
        for (long long slot = 0; slot < slots->count; slot++) {
            for (int part = 0; part < slots->operand->parts; part++) {
                const size_t number = number_of(slots, origin, slot, part);
                slots->element->set(part_of(slots, own, slot, part),
                                    before(slots, slots->sample, number), 0);
            }
        }
    }
}

static void renew_origin(const struct slots *slots, long long burst)
{
    const int rank = slots->launch->rank;
    memset(slots->result, UNTOUCHED, (size_t)slots->count * (size_t)operand_bytes(slots->operand));
    for (long long slot = 0; slot < burst; slot++) {
        for (int part = 0; part < slots->operand->parts; part++) {
            const size_t number = number_of(slots, rank, slot, part);
            char *place = part_of(slots, slots->sent, slot, part);
            slots->element->set(place, sent(slots, slots->sample, number), 0);
            alter(slots, slot, burst, place, neutral(slots, number),
                  sent(slots, slots->sample - 1, number));
        }
    }
}

void slots_renew(struct slots *slots, long long burst, char *memory)
{
    slots->sample++;
    if (memory != NULL) {
        renew_target(slots, memory);
    } else {
        renew_origin(slots, burst);
    }
}

/* ---- What is compared ---- */

/* Up to eight bytes as a number. */
static int64_t bits(const char *place, size_t bytes)
{
    int64_t word = 0;
    memcpy(&word, place, bytes);
    return word;
}

static void compare(struct verification *found, const struct slots *slots, const char *place,
                    const char *model, size_t number)
{
    const size_t bytes = slots->element->bytes;
    verify_element(found, bits(place, bytes), bits(model, bytes), number, slots->sample);
}

static void check_target(struct slots *slots, int origin, long long burst, char *own)
{
    const size_t bytes = slots->element->bytes;
    const size_t gap = (size_t)slots->operand->stride - bytes;
    char guard[sizeof(int64_t)], model[sizeof(int64_t)], operand[sizeof(int64_t)];
    memset(guard, GAP, sizeof guard);
    for (long long slot = 0; slot < slots->count; slot++) {
        for (int part = 0; part < slots->operand->parts; part++) {
            const size_t number = number_of(slots, origin, slot, part);
            const char *place = part_of(slots, own, slot, part);
            slots->element->set(model, before(slots, slots->sample, number), 0);
            slots->element->set(operand, sent(slots, slots->sample, number), 0);
            if (slot < burst && slots->reduction->operation == REPLACE) {
                memcpy(model, operand, bytes);
            } else if (slot < burst && slots->reduction->operation != NO_OP) {
                slots->element->apply(slots->reduction->operation, model, operand);
            }
            compare(&slots->at_target, slots, place, model, number);
            if (gap > 0) {
                verify_element(&slots->at_target, bits(place + bytes, gap), bits(guard, gap),
                               number, slots->sample);
            }
        }
    }
}

static void check_origin(struct slots *slots, long long burst)
{
    const int rank = slots->launch->rank;
    char model[sizeof(int64_t)];
    for (long long slot = 0; slot < burst; slot++) {
        for (int part = 0; part < slots->operand->parts; part++) {
            const size_t number = number_of(slots, rank, slot, part);
            char *place = part_of(slots, slots->result, slot, part);
            alter(slots, slot, burst, place, -2, before(slots, slots->sample, number) + 1);
            slots->element->set(model, before(slots, slots->sample, number), 0);
            compare(&slots->at_origin, slots, place, model, number);
        }
    }
}

void slots_check(struct slots *slots, long long burst, char *memory)
{
    const size_t bytes = (size_t)slots->count * (size_t)operand_bytes(slots->operand);
    for (int origin = 1; memory != NULL && origin <= slots->origins; origin++) {
        check_target(slots, origin, burst, memory + (size_t)(origin - 1) * bytes);
    }
    if (memory == NULL && slots->fetches) {
        check_origin(slots, burst);
    }
}

/* ---- Room ---- */

void slots_allocate(struct slots *slots)
{
    const size_t bytes = (size_t)slots->count * (size_t)operand_bytes(slots->operand);
    strcpy(slots->at_target.name, "at_target");
    strcpy(slots->at_origin.name, "at_origin");
    slots->sent = allocate_pages(bytes);
    slots->result = allocate_pages(bytes);
}

void slots_free(struct slots *slots)
{
    free(slots->sent);
    free(slots->result);
}
