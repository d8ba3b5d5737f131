/* Copies into memory that the other process has mapped, and has read just before: each to a place
 * of its own. */
#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"
#include "machine/baseline/baseline.h"

static bool open_copies(struct experiment *experiment)
{
    const size_t count = (size_t)experiment->burst * experiment->elements;
    strcpy(experiment->check.name, "copies");
    experiment->source = allocate(count, WORD_BYTES);
    return true;
}

static void close_copies(struct experiment *experiment)
{
    free(experiment->source);
}

static void fill_source(struct experiment *experiment)
{
    const size_t count = (size_t)experiment->burst * experiment->elements;
    for (size_t i = 0; i < count; i++) {
        experiment->source[i] = value_of_sample(experiment->sample, i);
    }
}

void copy(struct experiment *experiment, int64_t repeat)
{
    const size_t elements = experiment->elements;
    for (int64_t i = 0; i < repeat; i++) {
        const size_t place = (size_t)i * elements;
        memcpy(&experiment->page->copies[place], &experiment->source[place], elements * WORD_BYTES);
    }
}

static void inspect_copies(struct experiment *experiment)
{
    const bool is_partner = experiment->launch->rank == PARTNER;
    const size_t count = (size_t)experiment->burst * experiment->elements;
    for (size_t i = 0; is_partner && i < count; i++) {
        verify_element(&experiment->check, experiment->page->copies[i],
                       value_of_sample(experiment->sample, i), i, experiment->sample);
    }
}

static void verify_copies(struct experiment *experiment)
{
    if (experiment->launch->rank == PARTNER) {
        record_verification(experiment->record, experiment->check);
    }
}

const struct baseline_kind copies = {.open = open_copies,
                                     .close = close_copies,
                                     .prepare = fill_source,
                                     .inspect = inspect_copies,
                                     .verify = verify_copies};
