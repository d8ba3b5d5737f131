/* Swapped all-to-all: each rank sends a block to every rank, from one buffer to another and back.
 *
 * Source: Lawrence Livermore National Laboratory, "MPI Performance Measurements" (UCRL-WEB-218462,
 * 2006), ATA in its section "Algorithms": calls of MPI_Alltoall whose two buffers change their
 * roles from call to call. Here each call has payloads of its own, so that a lost block is noticed.
 * In the source the second call sends back the data that the first call brought; this is measured
 * here, too. MPI_Alltoallw does the same, with a datatype for each block. One-sided twins: puts in
 * rotated order, each rank beginning with itself, completed by MPI_Win_flush_all and a barrier, or
 * by a fence. Timed, in seconds: a call, or the puts that do the same; the slowest rank counts.
 * Verified: every element of every block. */
#include <stdlib.h>

#include "harness/memory.h"
#include "slots/exchange.h"

/* The arguments of MPI_Alltoallw: a block for each rank, with a datatype of its own. */
static struct {
    int *counts, *begins; /* begins in bytes */
    MPI_Datatype *types;
} typed;

/* ---- THE TIMED LOOPS ---- */

static void go_alltoall(const struct exchange *exchange, int passes)
{
    const int elements = block_elements(exchange);
    for (int pass = 0; pass < passes; pass++) {
        CHECKED(MPI_Alltoall(outgoing(exchange, pass), elements, MPI_INT64_T,
                             incoming(exchange, pass), elements, MPI_INT64_T, world_communicator));
    }
}

/* As the source does: from one buffer to the other, and back. */
static void go_alltoall_same(const struct exchange *exchange, int passes)
{
    const int elements = block_elements(exchange);
    int64_t *from = outgoing(exchange, 0), *to = incoming(exchange, 0);
    for (int pass = 0; pass < passes; pass++) {
        CHECKED(MPI_Alltoall(from, elements, MPI_INT64_T, to, elements, MPI_INT64_T,
                             world_communicator));
        int64_t *const received = to;
        to = from;
        from = received;
    }
}

static void go_alltoallw(const struct exchange *exchange, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        CHECKED(MPI_Alltoallw(outgoing(exchange, pass), typed.counts, typed.begins, typed.types,
                              incoming(exchange, pass), typed.counts, typed.begins, typed.types,
                              world_communicator));
    }
}

static void go_put_flush(const struct exchange *exchange, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        put_blocks(exchange, pass);
        CHECKED(MPI_Win_flush_all(exchange->window.handle));
        CHECKED(MPI_Barrier(world_communicator));
    }
}

static void go_put_fence(const struct exchange *exchange, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        put_blocks(exchange, pass);
        fence(exchange, pass + 1 == passes);
    }
}

static const struct interface interfaces[] = {
    {"alltoall", NO_WINDOW, go_alltoall},
    {"alltoallw", NO_WINDOW, go_alltoallw},
    {"put_lock_all", LOCK_ALL, go_put_flush},
    {"put_fence", FENCE, go_put_fence},
    {"alltoall_same_buffers", SAME_SLOT, go_alltoall_same},
};

static const struct axis axes[] = {
    INTERFACE_AXIS("alltoall,alltoallw,put_lock_all,put_fence"),
    FLAVOR_OF_WINDOW_AXIS("put_lock_all,put_fence"),
    MESSAGE_BYTES_AXIS("block", "8,10000", 1 << 24),
};

static const struct option options[] = {EXCHANGE_OPTIONS};

static const struct kind kind = {.describe = exchange_describe_blocks, .swaps = true, .sequel = 1};

static void make_types(int ranks, int elements)
{
    typed.counts = allocate((size_t)ranks, sizeof typed.counts[0]);
    typed.begins = allocate((size_t)ranks, sizeof typed.begins[0]);
    typed.types = allocate((size_t)ranks, sizeof typed.types[0]);
    for (int rank = 0; rank < ranks; rank++) {
        typed.counts[rank] = 1;
        typed.begins[rank] = rank * elements * (int)sizeof(int64_t);
        CHECKED(MPI_Type_contiguous(elements, MPI_INT64_T, &typed.types[rank]));
        CHECKED(MPI_Type_commit(&typed.types[rank]));
    }
}

static void free_types(int ranks)
{
    for (int rank = 0; rank < ranks; rank++) {
        CHECKED(MPI_Type_free(&typed.types[rank]));
    }
    free(typed.types);
    free(typed.begins);
    free(typed.counts);
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    make_types(launch->ranks, (int)cell_number(cell, "size_bytes") / 8);
    exchange_run(launch, cell, record, &kind);
    free_types(launch->ranks);
}

KERNEL("swapped_all_to_all", "time until each rank has a block of every rank", .run_cell = run_cell)
