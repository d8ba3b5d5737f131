/* The data written and fetched in epochs: each slot's values depend on its sample and its
 * number. */
#include "dinan/epochs/epochs.h"

#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"
#include "mpi/world.h"

#define BYTES_MAX (16 << 20) /* of all windows, or of the written data */

static bool is_supported(const struct epochs *epochs, double size_bytes, bool has_requests,
                         struct record *record)
{
    if (epochs->targets >= epochs->launch->ranks) {
        record_status(record, CELL_UNSUPPORTED, "%d ranks are accessed: found %d others",
                      epochs->targets, epochs->launch->ranks - 1);
    } else if (epochs->elements * (double)sizeof(int64_t) != size_bytes) {
        record_status(record, CELL_UNSUPPORTED, "size_bytes is %.0f, no multiple of 8", size_bytes);
    } else if (epochs->access->is_of_one_element && epochs->elements > 1) {
        record_status(record, CELL_UNSUPPORTED, "MPI_Fetch_and_op is of one element");
    } else if (has_requests && epochs->access->is_of_one_element) {
        record_status(record, CELL_UNSUPPORTED, "MPI_Fetch_and_op has no request");
    } else if (has_requests && epochs->targets == 0) {
        record_status(record, CELL_UNSUPPORTED, "no rank is accessed: there is no request");
    }
    return record->status == CELL_OK;
}

/* Return the slots of the longest burst that is asked for, or of as many epochs as fit. */
static long long slots_of_cell(const struct epochs *epochs, double size_bytes)
{
    const double epoch_bytes = size_bytes * epochs->operations * (epochs->targets + 1);
    const long long fits = (long long)(BYTES_MAX / epoch_bytes);
    const long long asked = options_integer(&epochs->launch->options, "burst");
    return epochs->operations * (fits < 1 ? 1 : fits < asked ? fits : asked);
}

static void allocate_arrays(struct epochs *epochs, size_t own)
{
    const size_t every = own * (size_t)(epochs->targets + 1); /* also without a target */
    epochs->written = allocate((size_t)epochs->slots, sizeof epochs->written[0]);
    if (epochs->launch->rank == ORIGIN) {
        epochs->payload = allocate(every, sizeof epochs->payload[0]);
        epochs->result = allocate(every, sizeof epochs->result[0]);
        epochs->requests = allocate((size_t)(epochs->targets * epochs->operations) + 1,
                                    sizeof epochs->requests[0]);
    }
}

bool content_open(struct epochs *epochs, const struct cell *cell, struct record *record,
                  bool has_requests)
{
    const struct flavor *flavor = cell_choice(cell, "flavor");
    const double size_bytes = cell_number(cell, "size_bytes");
    epochs->targets = (int)cell_number(cell, "targets");
    epochs->operations = (int)cell_number(cell, "operations");
    epochs->elements = (int)size_bytes / (int)sizeof(int64_t);
    if (!is_supported(epochs, size_bytes, has_requests, record) ||
        !window_is_supported(epochs->launch, flavor, record)) {
        return false;
    }
    epochs->slots = slots_of_cell(epochs, size_bytes);
    const size_t own = (size_t)epochs->slots * (size_t)epochs->elements;
    allocate_arrays(epochs, own);
    const MPI_Aint bytes = (MPI_Aint)(own * sizeof(int64_t));
    epochs->window = window_open(epochs->launch, flavor, bytes);
    record_window(record, epochs->window.handle, flavor->name, (long long)bytes);
    window_begin_own(&epochs->window, MPI_LOCK_EXCLUSIVE);
    memset(epochs->window.memory, 0, (size_t)bytes);
    window_end_own(&epochs->window);
    CHECKED(MPI_Barrier(world_communicator));
    return true;
}

void content_close(struct epochs *epochs, struct record *record)
{
    record_verification(record, epochs->at_target);
    if (epochs->access->fetches) {
        record_verification(record, epochs->at_origin);
    }
    window_close(&epochs->window);
    free(epochs->requests);
    free(epochs->result);
    free(epochs->payload);
    free(epochs->written);
}

void content_prepare(void *state, long long burst)
{
    struct epochs *epochs = state;
    epochs->sample++;
    const size_t own = (size_t)(burst * epochs->operations * epochs->elements);
    for (int target = 1; epochs->launch->rank == ORIGIN && target <= epochs->targets; target++) {
        const size_t begin = element_of(epochs, target, 0);
        for (size_t i = begin; i < begin + own; i++) {
            epochs->payload[i] = value_of_sample(epochs->sample, i);
            epochs->result[i] = -1;
        }
    }
}

static int64_t value_of(uint64_t sample, size_t element)
{
    return sample == 0 ? 0 : value_of_sample(sample, element);
}

/* Compare what the accesses to a target fetched, or what the target has now (`is_there`). */
static void compare(struct epochs *epochs, int target, long long slots, bool is_there)
{
    const int64_t *memory = epochs->window.memory;
    const size_t begin = element_of(epochs, target, 0);
    for (long long slot = 0; slot < slots; slot++) {
        const uint64_t sample = is_there ? epochs->sample : epochs->written[slot];
        const size_t first = element_of(epochs, target, slot);
        for (size_t i = first; i < first + (size_t)epochs->elements; i++) {
            const int64_t found = is_there ? memory[i - begin] : epochs->result[i];
            verify_element(is_there ? &epochs->at_target : &epochs->at_origin, found,
                           value_of(sample, i), i - begin, epochs->sample);
        }
    }
}

void content_check(void *state, long long burst)
{
    struct epochs *epochs = state;
    const long long slots = burst * epochs->operations;
    const int rank = epochs->launch->rank;
    for (int target = 1; rank == ORIGIN && epochs->access->fetches && target <= epochs->targets;
         target++) {
        compare(epochs, target, slots, false);
    }
    if (rank != ORIGIN && rank <= epochs->targets) {
        window_begin_own(&epochs->window, MPI_LOCK_SHARED);
        compare(epochs, rank, slots, true);
        window_end_own(&epochs->window);
    }
    for (long long slot = 0; slot < slots; slot++) {
        epochs->written[slot] = epochs->sample;
    }
}
