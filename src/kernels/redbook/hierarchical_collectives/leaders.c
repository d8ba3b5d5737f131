/* All-to-all through leaders: what leaders send for their groups, and where it arrives. */
#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"
#include "mpi/checked.h"
#include "redbook/hierarchical_collectives/collective.h"

/* Behind the leader's own blocks: the blocks from other groups, by source and then by place. */
static int64_t *arrived(const struct collective *state, uint64_t call)
{
    const size_t of_group = (size_t)state->groups.size * state->slot_elements;
    return shared_of(&state->groups, LEADER) + 2 * state->slot_elements + (call % 2) * of_group;
}

void leaders_alltoall(const struct collective *state, uint64_t call)
{
    const struct groups *groups = &state->groups;
    const size_t elements = (size_t)state->elements;
    for (int rank = 0; rank < state->ranks; rank++) {
        const int index = groups->index_of[rank];
        for (int place = 0; place < groups->size && index != groups->index; place++) {
            const int before = groups->size * groups->begins[index] + place * groups->sizes[index] +
                               groups->place_of[rank];
            memcpy(state->outbox + (size_t)before * elements,
                   collected(state, place, call) + (size_t)rank * elements,
                   elements * sizeof(int64_t));
        }
    }
    CHECKED_OF_SOME(MPI_Alltoallv(state->outbox, state->counts, state->displacements, MPI_INT64_T,
                                  arrived(state, call), state->counts, state->displacements,
                                  MPI_INT64_T, groups->leaders));
}

const int64_t *block_from(const struct collective *state, int source, uint64_t call)
{
    const struct groups *groups = &state->groups;
    const size_t elements = (size_t)state->elements;
    const int index = groups->index_of[source], place = groups->place_of[source];
    if (index == groups->index) {
        return collected(state, place, call) + (size_t)state->rank * elements;
    }
    const int before = (groups->begins[index] + place) * groups->size + groups->place;
    return arrived(state, call) + (size_t)before * elements;
}

void leaders_plan(struct collective *state)
{
    const struct groups *groups = &state->groups;
    state->counts = allocate((size_t)groups->count, sizeof state->counts[0]);
    state->displacements = allocate((size_t)groups->count, sizeof state->displacements[0]);
    for (int index = 0; index < groups->count; index++) {
        const int of_group = groups->size * state->elements;
        state->counts[index] = index == groups->index ? 0 : of_group * groups->sizes[index];
        state->displacements[index] = of_group * groups->begins[index];
    }
    state->outbox = allocate((size_t)groups->size * state->slot_elements, sizeof(int64_t));
}

void leaders_forget(struct collective *state)
{
    free(state->outbox);
    free(state->counts);
    free(state->displacements);
}
