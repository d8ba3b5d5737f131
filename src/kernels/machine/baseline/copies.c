/* Copies into memory that the other process has mapped and has just read; each copy has a place of
 * its own. */
#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"
#include "machine/baseline/baseline.h"
#include "slots/messages.h"

/* The words of a burst. */
static int words_of(const struct experiment *experiment)
{
    return (int)(experiment->burst * (int64_t)experiment->elements);
}

static bool open_copies(struct experiment *experiment)
{
    strcpy(experiment->check.name, "copies");
    experiment->source = allocate((size_t)words_of(experiment), WORD_BYTES);
    return true;
}

static void close_copies(struct experiment *experiment)
{
    free(experiment->source);
}

static void fill_source(struct experiment *experiment)
{
    message_fill(experiment->source, words_of(experiment), experiment->sample);
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
    if (experiment->launch->rank == PARTNER) {
        message_check(&experiment->check, experiment->page->copies, words_of(experiment),
                      experiment->sample, experiment->sample);
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
