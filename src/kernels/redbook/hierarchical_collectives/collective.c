/* The data of a collective operation: prepared before a burst, and verified after it. */
#include "redbook/hierarchical_collectives/collective.h"

#include <stdio.h>
#include <stdlib.h>

#include "harness/memory.h"
#include "mpi/checked.h"
#include "slots/room.h"

#define NOTHING (-1) /* no payload has this value */

/* ---- A cell ---- */

static bool choose_sizes(struct collective *state)
{
    const bool is_barrier = state->interface->operation == BARRIER;
    const long long size_bytes = is_barrier ? 0 : (long long)cell_number(state->cell, "size_bytes");
    if (size_bytes % (long long)sizeof(int64_t) != 0) {
        record_status(state->record, CELL_UNSUPPORTED, "size_bytes is %lld, no multiple of 8",
                      size_bytes);
        return false;
    }
    const int blocks = state->interface->operation == ALLTOALL ? state->ranks : 1;
    state->elements = (int)(size_bytes / (long long)sizeof(int64_t));
    state->slot_elements = (size_t)blocks * (size_t)state->elements;
    const size_t of_pass = 2 * state->slot_elements * sizeof(int64_t);
    state->slots = slots_choose(state->launch, state->record,
                                is_barrier ? (long long)sizeof(double) : (long long)of_pass);
    return state->slots > 0;
}

bool collective_open(struct collective *state)
{
    static const char *const names[] = {[SUM] = "sum",
                                        [SUM_AT_ROOT] = "sum",
                                        [VECTOR_OF_ROOT] = "vector",
                                        [BARRIER] = "come",
                                        [ALLTOALL] = "block"};
    const int most = (int)options_integer(&state->launch->options, "group-ranks");
    if (!choose_sizes(state)) {
        return false;
    }
    snprintf(state->found.name, sizeof state->found.name, "%s", names[state->interface->operation]);
    const size_t elements = (size_t)state->slots * state->slot_elements;
    state->sent = allocate_pages(elements * sizeof(int64_t));
    state->received = allocate_pages(elements * sizeof(int64_t));
    state->stamps = allocate((size_t)state->slots + 1, sizeof state->stamps[0]);
    state->groups = groups_open(state->launch, most);
    if (state->interface->is_hierarchical) {
        /* two halves; a leader also has room for the blocks of other groups, for each member */
        const int parts = 2 * (state->groups.place == LEADER ? 1 + state->groups.size : 1);
        leaders_plan(state);
        groups_share(&state->groups, (size_t)parts * state->slot_elements * sizeof(int64_t));
        record_window(state->record, state->groups.window, "shared", -1);
    }
    return true;
}

void collective_close(struct collective *state)
{
    if (state->interface->is_hierarchical) {
        groups_unshare(&state->groups);
        leaders_forget(state);
    }
    groups_close(&state->groups);
    free(state->sent);
    free(state->received);
    free(state->stamps);
}

/* ---- Payloads ---- */

/* The values that a rank sends in a pass; all elements of all ranks differ. */
static int64_t element_of(const struct collective *state, uint64_t number, int rank, size_t i)
{
    return value_of_sample(number * (uint64_t)state->ranks + (uint64_t)rank, i);
}

static int64_t expected(const struct collective *state, uint64_t number, size_t i)
{
    const enum operation operation = state->interface->operation;
    const bool is_root = state->rank == ROOT;
    int64_t sum = 0;
    if (operation == VECTOR_OF_ROOT || (operation == SUM_AT_ROOT && !is_root)) {
        /* only the other ranks get data, or only the root */
        return operation == VECTOR_OF_ROOT && !is_root ? element_of(state, number, ROOT, i)
                                                       : NOTHING;
    }
    if (operation == ALLTOALL) {
        const size_t elements = (size_t)state->elements;
        const size_t place = (size_t)state->rank * elements + i % elements;
        return element_of(state, number, (int)(i / elements), place);
    }
    for (int rank = 0; rank < state->ranks; rank++) {
        sum += element_of(state, number, rank, i);
    }
    return sum;
}

void collective_prepare(void *state_, long long burst)
{
    struct collective *state = state_;
    state->first += (uint64_t)state->passes;
    state->passes = (int)burst;
    for (int pass = 0; pass < state->passes; pass++) {
        for (size_t i = 0; i < state->slot_elements; i++) {
            sent(state, pass)[i] = element_of(state, state->first + (uint64_t)pass, state->rank, i);
            received(state, pass)[i] = NOTHING;
        }
    }
}

static void check_elements(struct collective *state)
{
    for (int pass = 0; pass < state->passes; pass++) {
        const uint64_t number = state->first + (uint64_t)pass;
        for (size_t i = 0; i < state->slot_elements; i++) {
            verify_element(&state->found, received(state, pass)[i], expected(state, number, i), i,
                           number);
        }
    }
}

/* All ranks must have come before this rank left: all ranks of its host, or all with one clock. */
static void check_barriers(struct collective *state)
{
    const MPI_Comm communicator =
        state->launch->clock_is_global ? world_communicator : state->groups.members;
    const int count = state->passes + 1;
    int ranks;
    CHECKED(MPI_Comm_size(communicator, &ranks));
    double *stamps = allocate((size_t)ranks * (size_t)count, sizeof stamps[0]);
    CHECKED(
        MPI_Allgather(state->stamps, count, MPI_DOUBLE, stamps, count, MPI_DOUBLE, communicator));
    for (int pass = 0; pass < state->passes; pass++) {
        int64_t come = 0;
        for (int rank = 0; rank < ranks; rank++) {
            come += stamps[(size_t)rank * (size_t)count + (size_t)pass] <= state->stamps[pass + 1];
        }
        verify_element(&state->found, come, ranks, (size_t)state->rank,
                       state->first + (uint64_t)pass);
    }
    free(stamps);
}

void collective_check(void *state_, long long burst)
{
    struct collective *state = state_;
    (void)burst;
    if (state->interface->operation == BARRIER) {
        check_barriers(state);
    } else {
        check_elements(state);
    }
}
