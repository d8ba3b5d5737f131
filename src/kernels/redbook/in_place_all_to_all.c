/* All-to-all in place: each rank sends a block to every other rank, and receives into one buffer.
 *
 * Source: Marcelo Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM
 * SG24-5611, 1999), section 3.1.2: MPI_Isend of all blocks, then MPI_Waitany, and a receive into
 * the block that is free. Above the eager limit no send completes, so no receive is posted: all
 * ranks wait for ever. The harness' watchdog ends such a launch, and the cell is a hang. So each
 * cell with these calls has a launch of its own. Two correct ways: MPI_Sendrecv_replace with each
 * rank in turn, and MPI_Alltoall with MPI_IN_PLACE. Timed, in seconds: a pass; the slowest rank
 * counts. Verified: every element of every block. */
#include <stdlib.h>

#include "harness/memory.h"
#include "mpi/checked.h"
#include "mpi/eager_limit.h"
#include "mpi/trial.h"
#include "mpi/world.h"
#include "slots/messages.h"

#define SIZE_BYTES_MAX (1 << 24)

struct in_place;

struct way {
    const char *name;
    /* All ranks: THE TIMED LOOP. */
    void (*go)(const struct in_place *all, int passes);
};

struct in_place {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct way *way;
    int elements, passes;
    uint64_t first;       /* number of the burst's first pass, from 1 */
    int64_t *memory;      /* a slot for each pass of a burst: a block for each rank */
    MPI_Request *request; /* by rank; the own rank's is null */
    struct verification found;
};

static int64_t *block(const struct in_place *all, int pass, int rank)
{
    return all->memory +
           ((size_t)pass * (size_t)all->launch->ranks + (size_t)rank) * (size_t)all->elements;
}

/* ---- THE TIMED LOOPS ---- */

static void go_isend_waitany(const struct in_place *all, int passes)
{
    const int ranks = all->launch->ranks;
    for (int pass = 0; pass < passes; pass++) {
        for (int rank = 0; rank < ranks; rank++) {
            all->request[rank] = MPI_REQUEST_NULL;
            if (rank != all->launch->rank) {
                CHECKED(MPI_Isend(block(all, pass, rank), all->elements, MPI_INT64_T, rank, 0,
                                  world_communicator, &all->request[rank]));
            }
        }
        for (int freed = 1; freed < ranks; freed++) {
            int rank = 0;
            CHECKED(MPI_Waitany(ranks, all->request, &rank, MPI_STATUS_IGNORE));
            CHECKED(MPI_Recv(block(all, pass, rank), all->elements, MPI_INT64_T, rank, 0,
                             world_communicator, MPI_STATUS_IGNORE));
        }
    }
}

static void go_sendrecv_replace(const struct in_place *all, int passes)
{
    const int ranks = all->launch->ranks, own = all->launch->rank;
    for (int pass = 0; pass < passes; pass++) {
        for (int step = 0; step < ranks; step++) {
            const int partner = (step - own + ranks) % ranks;
            if (partner != own) {
                CHECKED(MPI_Sendrecv_replace(block(all, pass, partner), all->elements, MPI_INT64_T,
                                             partner, 0, partner, 0, world_communicator,
                                             MPI_STATUS_IGNORE));
            }
        }
    }
}

static void go_alltoall(const struct in_place *all, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        CHECKED(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, block(all, pass, 0), all->elements,
                             MPI_INT64_T, world_communicator));
    }
}

static const struct way ways[] = {{"isend_waitany", go_isend_waitany},
                                  {"sendrecv_replace", go_sendrecv_replace},
                                  {"alltoall", go_alltoall}};

static const struct axis axes[] = {
    CHOICE_AXIS("way", "how the blocks are exchanged", "isend_waitany,sendrecv_replace,alltoall",
                ways),
    {.name = "size_bytes",
     .help = "size of a block, a multiple of 8; a large one hangs with isend_waitany" LIMIT_HELP,
     .kind = AXIS_INTEGER,
     .fallback = "8,64",
     .minimum = 8,
     .maximum = SIZE_BYTES_MAX,
     .words = LIMIT_WORDS},
};

static const struct option options[] = {TRIAL_OPTIONS("20", "10", "0.05"),
                                        LIMIT_OPTIONS(SIZE_BYTES_MAX / 2)};

/* ---- Payloads: a block's values depend on its pass, its source and its destination ---- */

static uint64_t message(const struct in_place *all, int pass, int source, int destination)
{
    const uint64_t ranks = (uint64_t)all->launch->ranks;
    return ((all->first + (uint64_t)pass) * ranks + (uint64_t)source) * ranks +
           (uint64_t)destination;
}

static void prepare(void *state, long long burst)
{
    struct in_place *all = state;
    const int own = all->launch->rank;
    all->first += (uint64_t)all->passes;
    all->passes = (int)burst;
    for (int pass = 0; pass < all->passes; pass++) {
        for (int rank = 0; rank < all->launch->ranks; rank++) {
            message_fill(block(all, pass, rank), all->elements, message(all, pass, own, rank));
        }
    }
}

static double go(void *state, long long burst)
{
    struct in_place *all = state;
    const double begin_s = clock_now_s();
    all->way->go(all, (int)burst);
    return clock_now_s() - begin_s;
}

static void check(void *state, long long burst)
{
    struct in_place *all = state;
    const int own = all->launch->rank;
    (void)burst;
    for (int pass = 0; pass < all->passes; pass++) {
        for (int rank = 0; rank < all->launch->ranks; rank++) {
            message_check(&all->found, block(all, pass, rank), all->elements,
                          message(all, pass, rank, own), all->first + (uint64_t)pass);
        }
    }
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    watchdog_phase = "prepare";
    const long long size_bytes = size_or_limit(launch, cell, record);
    if (size_bytes == 0) {
        return;
    }
    struct in_place all = {.launch = launch,
                           .cell = cell,
                           .record = record,
                           .way = cell_choice(cell, "way"),
                           .elements = (int)(size_bytes / (long long)sizeof(int64_t)),
                           .first = 1,
                           .request = allocate((size_t)launch->ranks, sizeof(MPI_Request)),
                           .found = {.name = "block"}};
    const long long slots = options_integer(&launch->options, "burst");
    all.memory = allocate_pages((size_t)(slots * launch->ranks * all.elements) * sizeof(int64_t));
    const struct trial trial = {.launch = launch,
                                .cell = cell,
                                .record = record,
                                .state = &all,
                                .longest = slots,
                                .prepare = prepare,
                                .go = go,
                                .check = check,
                                .time = "time"};
    trial_run(&trial);
    record_verification(record, all.found);
    keep_size_of_word(launch, cell, record, size_bytes);
    free(all.memory);
    free(all.request);
}

KERNEL("in_place_all_to_all", "time of an all-to-all from and into one buffer",
       .run_cell = run_cell)
