/* Eager limit: up to which size does a send return while no receive is posted?
 *
 * Source: Marcelo Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM
 * SG24-5611, 1999), section 3.1.2 and its Table 9: two processes call MPI_Send, then MPI_Recv;
 * above the limit they wait for each other for ever. Here nobody does: rank 0 receives late. It
 * waits until it sees outside MPI that rank 1's call has returned, or until --delay-ms is over, and
 * only then receives. Meanwhile it makes progress, as the source's rank does in its own send, or
 * not. A size that has not returned in any of --tries is above the limit. Sizes are the powers of
 * two; between two that differ they are halved until they are a byte apart, so several limits would
 * show. One-sided twins: a put with MPI_Win_flush_local, after which the buffer may be used again,
 * and with MPI_Win_flush. MPI_Ssend shows that the kernel can tell: it may never return early.
 * Kept: each size, whether it returned, and the limits that the library reports through MPI_T.
 * Verified: every byte of every message. */
#include <stdlib.h>

#include "harness/memory.h"
#include "mpi/shared_page.h"
#include "redbook/eager_limit/late.h"
#include "redbook/eager_limit/reported.h"

/* ---- THE CALLS THAT ARE WATCHED ---- */

static void send_standard(const struct late *late, long long size)
{
    CHECKED(MPI_Send(late->payload, (int)size, MPI_BYTE, RECEIVER, 0, world_communicator));
}

static void send_synchronous(const struct late *late, long long size)
{
    CHECKED(MPI_Ssend(late->payload, (int)size, MPI_BYTE, RECEIVER, 0, world_communicator));
}

static void put(const struct late *late, long long size)
{
    CHECKED(MPI_Put(late->payload, (int)size, MPI_BYTE, RECEIVER, late->window.begins[RECEIVER],
                    (int)size, MPI_BYTE, late->window.handle));
}

static void put_flush_local(const struct late *late, long long size)
{
    put(late, size);
    CHECKED(MPI_Win_flush_local(RECEIVER, late->window.handle));
}

static void put_flush(const struct late *late, long long size)
{
    put(late, size);
    CHECKED(MPI_Win_flush(RECEIVER, late->window.handle));
}

static const struct call calls[] = {
    {"send", false, send_standard},
    {"ssend", false, send_synchronous},
    {"put_flush_local", true, put_flush_local},
    {"put_flush", true, put_flush},
};
static const struct receiver receivers[] = {{"in_mpi", true}, {"outside", false}};

/* Both ranks: tell whether a message of this size returned with no receive posted, in any try. */
static bool returns(struct late *late, long long size)
{
    const long long tries = options_integer(&late->launch->options, "tries");
    int returned = 0;
    for (long long i = 0; !returned && i < tries; i++) {
        late->number++;
        if (late->launch->rank == SENDER) {
            const int is_quick = send_one(late, size);
            CHECKED(MPI_Sendrecv(&is_quick, 1, MPI_INT, RECEIVER, 2, &returned, 1, MPI_INT,
                                 RECEIVER, 2, world_communicator, MPI_STATUS_IGNORE));
            returned = late->page == NULL ? is_quick : returned;
        } else {
            const int seen = receive_late(late, size);
            CHECKED(MPI_Sendrecv(&seen, 1, MPI_INT, SENDER, 2, &returned, 1, MPI_INT, SENDER, 2,
                                 world_communicator, MPI_STATUS_IGNORE));
            returned = late->page == NULL ? returned : seen;
            compare(late, size);
        }
    }
    if (late->launch->rank == RECEIVER) {
        series_add(late->sizes, (double)size);
        series_add(late->returned, returned);
    }
    return returned;
}

/* Both ranks: the sizes, from the powers of two to neighbours of a byte; returns the limit. */
static long long search(struct late *late)
{
    const long long largest = options_integer(&late->launch->options, "largest-bytes");
    long long limit = 0;
    bool below = returns(late, 1);
    for (long long size = 2; size <= largest; size *= 2) {
        const bool above = returns(late, size);
        long long low = size / 2, high = size;
        while (below != above && high - low > 1) {
            const long long middle = low + (high - low) / 2;
            *(returns(late, middle) == below ? &low : &high) = middle;
        }
        limit = below ? low : limit;
        limit = above ? size : limit;
        below = above;
    }
    return limit;
}

static void take(struct late *late, struct record *record)
{
    CHECKED(MPI_Barrier(world_communicator));
    if (late->launch->rank == RECEIVER) {
        late->sizes = record_series(record, "tried_bytes", "count", 1);
        late->returned = record_series(record, "returned", "flag", 1);
        series_add(record_series(record, "limit", "count", 1), (double)search(late));
        record_verification(record, late->found);
        reported_limits(record);
    } else if (late->launch->rank == SENDER) {
        search(late);
    }
    watchdog_phase = "wait";
    CHECKED(MPI_Barrier(world_communicator));
}

static const struct axis axes[] = {
    {.name = "call",
     .help = "what rank 1 calls while rank 0 is outside MPI",
     .kind = AXIS_CHOICE,
     .fallback = "send,ssend,put_flush_local,put_flush",
     .choices = TABLE(calls)},
    {.name = "receiver",
     .help = "whether rank 0 makes progress until it receives",
     .kind = AXIS_CHOICE,
     .fallback = "in_mpi,outside",
     .choices = TABLE(receivers)},
    {.name = "flavor",
     .help = "where the window's memory comes from",
     .kind = AXIS_CHOICE,
     .fallback = "create,allocate",
     .choices = TABLE(flavors),
     .only_with = "call=put_flush_local,put_flush"},
};

static const struct option options[] = {
    {"largest-bytes", "BYTES", "the largest size", OPTION_INTEGER, "65536", 2, 1 << 28},
    {"delay-ms", "MS", "how late rank 0 receives", OPTION_NUMBER, "3", 0.01, 10000},
    {"tries", "N", "a size that returns in none of them is above the limit", OPTION_INTEGER, "3", 1,
     100},
};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct flavor *flavor = cell_choice(cell, "flavor");
    const long long largest = options_integer(&launch->options, "largest-bytes");
    const size_t bytes = (size_t)words_of(largest) * sizeof(int64_t);
    struct late late = {.launch = launch,
                        .cell = cell,
                        .call = cell_choice(cell, "call"),
                        .receiver = cell_choice(cell, "receiver"),
                        .delay_s = 1e-3 * options_number(&launch->options, "delay-ms"),
                        .payload = allocate_pages(bytes),
                        .result = allocate_pages(bytes),
                        .found = {.name = "message"}};
    watchdog_phase = "window";
    if (flavor != NULL && !window_is_supported(launch, flavor, record)) {
        return;
    }
    int64_t *own = late.result;
    late.page = shared_page_open(world_communicator, sizeof *late.page);
    if (flavor != NULL) {
        const bool is_target = launch->rank == RECEIVER;
        late.window = window_open(launch, flavor, is_target ? (MPI_Aint)bytes : 0);
        record_window(record, late.window.handle, flavor->name, (long long)bytes);
        late.result = late.window.memory;
        window_hold(&late.window);
    }
    watchdog_phase = "operations";
    take(&late, record);
    watchdog_phase = "window";
    if (flavor != NULL) {
        window_close(&late.window);
    }
    shared_page_close(late.page, sizeof *late.page);
    free(own);
    free(late.payload);
}

KERNEL("eager_limit", "up to which size a send returns while no receive is posted",
       .run_cell = run_cell)
