/* The bytes of a program: what is in the window and in the buffers, before and after. */
#include <stdlib.h>
#include <string.h>

#include "data/conformance/call.h"
#include "data/conformance/places.h"
#include "data/conformance/print.h"
#include "data/conformance/program.h"
#include "harness/memory.h"

enum content { SENT, UNFETCHED, FETCHED, COMPARED_WITH };

/* A buffer of each origin's, one after the other. */
static void print_buffers(FILE *file, struct plan *plan, const char *name, enum content content)
{
    const struct launch *launch = plan->launch;
    const size_t bytes = (size_t)buffer_bytes(plan);
    unsigned char *all = allocate((size_t)launch->ranks * bytes + 1, 1);
    int rows = 0;
    for (int rank = 0; rank < launch->ranks; rank++) {
        if (!is_origin(plan, rank)) {
            continue;
        }
        struct launch other = *launch;
        other.rank = rank;
        plan->launch = &other;
        struct model model = model_make(plan, 0);
        const unsigned char *elements[] = {model.sent, NULL, model.fetched, model.compare};
        const struct memory memory =
            buffer_of(plan, name, all + (size_t)rows++ * bytes,
                      seed_of(plan, 0) + (content == SENT || content == COMPARED_WITH));
        memory_fill(&memory, plan->element, elements[content]);
        model_free(&model);
        plan->launch = launch;
    }
    print_bytes(file, name, all, rows, (long long)bytes);
    free(all);
}

/* The target's part of the window, before and after. */
static void print_window(FILE *file, struct plan *plan)
{
    const struct launch *launch = plan->launch;
    const size_t bytes = (size_t)window_bytes(plan);
    struct launch target = *launch;
    target.rank = plan->target_rank;
    plan->launch = &target;
    unsigned char *all = allocate(2 * bytes + 1, 1);
    struct model model = model_make(plan, 0);
    struct memory part = part_of(plan, 0, all);
    part.size = (MPI_Aint)bytes;
    memory_fill(&part, plan->element, model.before);
    part.bytes = all + bytes;
    memory_fill(&part, plan->element, model.state);
    print_bytes(file, "window_bytes", all, 2, (long long)bytes);
    model_free(&model);
    free(all);
    plan->launch = launch;
}

/* 1 for each byte that is compared: those in the gap of an element are not. */
static void print_compared(FILE *file, const struct plan *plan, const char *name,
                           const struct memory *memory)
{
    if (plan->element->gap_begin == plan->element->gap_end) {
        fprintf(file, "static const unsigned char *const %s = NULL;\n", name);
        return;
    }
    unsigned char *ones = allocate((size_t)memory->size + 1, 1);
    unsigned char *element = allocate((size_t)memory->elements + 1, plan->element->bytes);
    memset(ones, 1, (size_t)memory->size);
    memset(element, 1, (size_t)memory->elements * plan->element->bytes);
    for (long long i = 0; i < memory->elements; i++) {
        memset(element + (size_t)i * plan->element->bytes + plan->element->gap_begin, 0,
               plan->element->gap_end - plan->element->gap_begin);
    }
    struct memory mask = *memory;
    mask.bytes = ones;
    for (long long slot = 0; slot < memory->slots; slot++) {
        memory_set(&mask, plan->element, slot, element);
    }
    print_row(file, name, ones, (long long)memory->size);
    free(ones);
    free(element);
}

void print_data(FILE *file, struct plan *plan)
{
    struct memory part = part_of(plan, 0, NULL);
    const struct memory buffer = buffer_of(plan, "", NULL, 0);
    part.size = window_bytes(plan);
    part.slots = target_slots(plan);
    print_window(file, plan);
    print_compared(file, plan, "window_compared", &part);
    print_buffers(file, plan, "origin", SENT);
    print_buffers(file, plan, "result", UNFETCHED);
    if (plan->call->fetches) {
        print_buffers(file, plan, "fetched", FETCHED);
        print_compared(file, plan, "fetched_compared", &buffer);
    }
    if (plan->call->compares) {
        print_buffers(file, plan, "compare", COMPARED_WITH);
    }
}
