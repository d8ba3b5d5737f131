/* Hierarchical collectives: a sum, a barrier and an all-to-all, by one call and through leaders.
 *
 * Source: Marcelo Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM,
 * SG24-5611-00, 1999), section 5.3.2 and its figures 45 to 55: MPI_Barrier, MPI_Reduce with
 * MPI_Bcast, and MPI_Alltoall; and versions in which the ranks of a node use shared memory, and
 * only one rank of each node communicates with other nodes. Also MPI_Reduce and MPI_Bcast alone,
 * whose times the source calls unpredictable, because nothing holds back a rank that is ahead. Here
 * the shared memory is a shared window of each node (MPI_COMM_TYPE_SHARED); on one node there is
 * one group, and its leader has no other leader to communicate with. Timed, in seconds: a call; the
 * slowest rank counts. Verified: every element of every sum and block; for a barrier, by time
 * stamps, that all ranks had come before this rank left. */
#include <string.h>

#include "mpi/checked.h"
#include "redbook/hierarchical_collectives/collective.h"
#include "slots/room.h"

#define SIZE_BYTES_MAX (1 << 24)

/* ---- THE TIMED LOOPS ---- */

static void go_reduce_bcast(struct collective *state, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        CHECKED(MPI_Reduce(sent(state, pass), received(state, pass), state->elements, MPI_INT64_T,
                           MPI_SUM, ROOT, world_communicator));
        CHECKED(MPI_Bcast(received(state, pass), state->elements, MPI_INT64_T, ROOT,
                          world_communicator));
    }
}

/* No call waits for an answer, so a rank may be several calls ahead of another. */
static void go_bcast(struct collective *state, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        CHECKED(MPI_Bcast(state->rank == ROOT ? sent(state, pass) : received(state, pass),
                          state->elements, MPI_INT64_T, ROOT, world_communicator));
    }
}

static void go_reduce(struct collective *state, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        CHECKED(MPI_Reduce(sent(state, pass), received(state, pass), state->elements, MPI_INT64_T,
                           MPI_SUM, ROOT, world_communicator));
    }
}

static void go_allreduce(struct collective *state, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        CHECKED(MPI_Allreduce(sent(state, pass), received(state, pass), state->elements,
                              MPI_INT64_T, MPI_SUM, world_communicator));
    }
}

static void go_hierarchical_allreduce(struct collective *state, int passes)
{
    const struct groups *groups = &state->groups;
    const size_t bytes = (size_t)state->elements * sizeof(int64_t);
    int64_t *sum = shared_of(groups, LEADER);
    for (int pass = 0; pass < passes; pass++) {
        const uint64_t call = ++state->call;
        if (groups->place != LEADER) {
            memcpy(shared_of(groups, groups->place), sent(state, pass), bytes);
        }
        groups_gather(groups, call);
        if (groups->place == LEADER) {
            /* all ranks have come, so no rank still reads the sum of the call before */
            memcpy(sum, sent(state, pass), bytes);
            for (int place = 1; place < groups->size; place++) {
                add(sum, shared_of(groups, place), state->elements);
            }
            if (groups->count > 1) {
                CHECKED_OF_SOME(MPI_Allreduce(MPI_IN_PLACE, sum, state->elements, MPI_INT64_T,
                                              MPI_SUM, groups->leaders));
            }
        }
        groups_release(groups, call);
        memcpy(received(state, pass), sum, bytes);
    }
}

/* A rank leaves a barrier when it comes to the next one, so it reads the clock once in each
 * call. */
static void go_barrier(struct collective *state, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        CHECKED(MPI_Barrier(world_communicator));
        state->stamps[pass + 1] = clock_now_s();
    }
}

static void go_hierarchical_barrier(struct collective *state, int passes)
{
    const struct groups *groups = &state->groups;
    for (int pass = 0; pass < passes; pass++) {
        const uint64_t call = ++state->call;
        groups_gather(groups, call);
        if (groups->count > 1 && groups->place == LEADER) {
            CHECKED_OF_SOME(MPI_Barrier(groups->leaders));
        }
        groups_release(groups, call);
        state->stamps[pass + 1] = clock_now_s();
    }
}

static void go_alltoall(struct collective *state, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        CHECKED(MPI_Alltoall(sent(state, pass), state->elements, MPI_INT64_T, received(state, pass),
                             state->elements, MPI_INT64_T, world_communicator));
    }
}

/* Calls use the two halves of the shared memory in turn. A rank that comes to the next call has
 * read all data of this call, so the call after the next one finds this half free. */
static void go_hierarchical_alltoall(struct collective *state, int passes)
{
    const struct groups *groups = &state->groups;
    const size_t bytes = (size_t)state->elements * sizeof(int64_t);
    for (int pass = 0; pass < passes; pass++) {
        const uint64_t call = ++state->call;
        memcpy(collected(state, groups->place, call), sent(state, pass),
               bytes * (size_t)state->ranks);
        groups_gather(groups, call);
        if (groups->count > 1 && groups->place == LEADER) {
            leaders_alltoall(state, call);
        }
        groups_release(groups, call);
        for (int source = 0; source < state->ranks; source++) {
            memcpy(received(state, pass) + (size_t)source * (size_t)state->elements,
                   block_from(state, source, call), bytes);
        }
    }
}

static const struct interface interfaces[] = {
    {"reduce_bcast", SUM, false, go_reduce_bcast},
    {"reduce", SUM_AT_ROOT, false, go_reduce},
    {"bcast", VECTOR_OF_ROOT, false, go_bcast},
    {"allreduce", SUM, false, go_allreduce},
    {"hierarchical_allreduce", SUM, true, go_hierarchical_allreduce},
    {"barrier", BARRIER, false, go_barrier},
    {"hierarchical_barrier", BARRIER, true, go_hierarchical_barrier},
    {"alltoall", ALLTOALL, false, go_alltoall},
    {"hierarchical_alltoall", ALLTOALL, true, go_hierarchical_alltoall},
};

static const struct axis axes[] = {
    CHOICE_AXIS("interface", "the collective operation, and how it is made",
                "reduce_bcast,reduce,bcast,allreduce,hierarchical_allreduce,barrier,"
                "hierarchical_barrier,alltoall,hierarchical_alltoall",
                interfaces),
    {.name = "size_bytes",
     .help = "of a vector that is summed, or of a block, a multiple of 8",
     .kind = AXIS_INTEGER,
     .fallback = "8,8192",
     .minimum = 8,
     .maximum = SIZE_BYTES_MAX,
     .only_with = "interface=reduce_bcast,reduce,bcast,allreduce,hierarchical_allreduce,alltoall,"
                  "hierarchical_alltoall"},
};

static const struct option options[] = {
    SLOT_OPTIONS,
    {"group-ranks", "N", "ranks of a group at most, as if a node had no more; 0: all of a node",
     OPTION_INTEGER, "0", 0, 1 << 20},
};

static double go(void *state, long long burst)
{
    struct collective *collective = state;
    const double begin_s = collective->stamps[0] = clock_now_s();
    collective->interface->go(collective, (int)burst);
    return clock_now_s() - begin_s;
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    struct collective state = {.launch = launch,
                               .cell = cell,
                               .record = record,
                               .interface = cell_choice(cell, "interface"),
                               .rank = launch->rank,
                               .ranks = launch->ranks,
                               .first = 1};
    watchdog_phase = "window";
    if (collective_open(&state)) {
        const struct trial trial = {.launch = launch,
                                    .cell = cell,
                                    .record = record,
                                    .state = &state,
                                    .longest = state.slots,
                                    .prepare = collective_prepare,
                                    .go = go,
                                    .check = collective_check,
                                    .time = "time"};
        trial_run(&trial);
        record_verification(record, state.found);
        series_add(record_series(record, "groups", "count", 1), state.groups.count);
        watchdog_phase = "window";
        collective_close(&state);
    }
}

KERNEL("hierarchical_collectives",
       "time of a sum, a barrier and an all-to-all, flat and by way of leaders",
       .run_cell = run_cell)
