/* The content of a window before and after its growth. */
#include <math.h>
#include <stdlib.h>

#include "dinan/window_growth/growth.h"
#include "harness/meeting.h"
#include "harness/memory.h"
#include "harness/watchdog.h"
#include "rma/computing.h"

#define NOTHING (-1) /* in the new part before a put; no payload has this value */

enum region { OLD, NEW };

static size_t elements_of(const struct growth *growth)
{
    return (size_t)growth->bytes / sizeof(int64_t);
}

/* The value of an element in a rank's part of the window, in a sample. */
static int64_t value(const struct growth *growth, int rank, enum region region, size_t element,
                     uint64_t sample)
{
    const uint64_t ranks = (uint64_t)growth->launch->ranks;
    return value_of_sample((sample * ranks + (uint64_t)rank) * 2 + region, element);
}

static int neighbour(const struct growth *growth, int step)
{
    return (growth->launch->rank + growth->launch->ranks + step) % growth->launch->ranks;
}

bool growth_is_supported(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct method *method = cell_choice(cell, "method");
    const struct target_state *state = cell_choice(cell, "target_state");
    const long long bytes = (long long)cell_number(cell, "size_bytes");
    if (bytes % (long long)sizeof(int64_t) != 0) {
        record_status(record, CELL_UNSUPPORTED, "size_bytes is %lld, no multiple of 8", bytes);
        return false;
    }
    return window_is_supported(launch, &flavors[method->flavor], record) &&
           (!state->computes || meeting_is_supported(launch, record));
}

void content_open(struct growth *growth)
{
    const size_t bytes = (size_t)growth->bytes;
    const bool attaches = growth->method->attaches;
    growth->sample++;
    for (enum part part = 0; part < PARTS; part++) {
        growth->part_s[part] = NAN;
    }
    const struct flavor *flavor = &flavors[growth->method->flavor];
    growth->window = window_open(growth->launch, flavor, growth->bytes);
    if (growth->sample == 1) {
        record_window(growth->record, growth->window.handle, flavor->name, (long long)bytes);
    }
    growth->before = growth->method->owns_memory ? growth->window.memory : NULL;
    growth->more = growth->method->owns_memory ? allocate_pages((attaches ? 1 : 2) * bytes) : NULL;
    int64_t *content = growth->window.memory;
    window_begin_own(&growth->window, MPI_LOCK_EXCLUSIVE);
    for (size_t i = 0; i < elements_of(growth); i++) {
        content[i] = value(growth, growth->launch->rank, OLD, i, growth->sample);
        growth->sent[i] = value(growth, neighbour(growth, 1), NEW, i, growth->sample);
    }
    window_end_own(&growth->window);
}

/* At the right neighbour: get the end of the old part, then put to the whole new part. */
static void access_neighbour(struct growth *growth)
{
    const MPI_Win window = growth->window.handle;
    const int rank = neighbour(growth, 1), elements = (int)elements_of(growth);
    const MPI_Aint old_begin = growth->window.begins[rank];
    const MPI_Aint old_end = old_begin + growth->bytes - (MPI_Aint)sizeof(int64_t);
    const bool errs = options_flag(&growth->launch->options, "old-address");
    const MPI_Aint new_begin = errs                       ? old_begin
                               : growth->method->attaches ? growth->more_begins[rank]
                                                          : growth->bytes;
    int64_t fetched = NOTHING;
    CHECKED(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window));
    CHECKED(MPI_Get(&fetched, 1, MPI_INT64_T, rank, old_end, 1, MPI_INT64_T, window));
    CHECKED(MPI_Win_unlock(rank, window));
    verify_element(&growth->at_origin, fetched,
                   value(growth, rank, OLD, elements_of(growth) - 1, growth->sample),
                   elements_of(growth) - 1, growth->sample);
    CHECKED(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window));
    CHECKED(MPI_Put(growth->sent, elements, MPI_INT64_T, rank, new_begin, elements, MPI_INT64_T,
                    window));
    CHECKED(MPI_Win_unlock(rank, window));
}

void content_verify(struct growth *growth)
{
    int64_t *old_part = growth->window.memory;
    int64_t *new_part = growth->method->attaches ? growth->more : old_part + elements_of(growth);
    watchdog_phase = "verify";
    window_begin_own(&growth->window, MPI_LOCK_EXCLUSIVE);
    for (size_t i = 0; i < elements_of(growth); i++) {
        new_part[i] = NOTHING;
    }
    window_end_own(&growth->window);
    CHECKED(MPI_Barrier(world_communicator));
    access_neighbour(growth);
    CHECKED(MPI_Barrier(world_communicator));
    window_begin_own(&growth->window, MPI_LOCK_EXCLUSIVE);
    for (size_t i = 0; i < elements_of(growth); i++) {
        verify_element(&growth->old_part, old_part[i],
                       value(growth, growth->launch->rank, OLD, i, growth->sample), i,
                       growth->sample);
        verify_element(&growth->new_part, new_part[i],
                       value(growth, growth->launch->rank, NEW, i, growth->sample), i,
                       growth->sample);
    }
    window_end_own(&growth->window);
}

void content_close(struct growth *growth)
{
    free(growth->before);
    free(growth->more);
    free(growth->window.begins);
}
