/* All-to-all algorithms: each rank sends a block to every rank, in six ways.
 *
 * Source: Marcelo Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM,
 * SG24-5611-00, 1999), section 3.2.2 and its figures 10 to 13: all receives posted, a barrier, all
 * ready sends (the block for the own rank by a message, or by memcpy); a ring of MPI_Sendrecv;
 * MPI_Alltoall. One-sided twins: puts, each rank beginning with itself, completed by
 * MPI_Win_flush_all and a barrier, or by a fence. Timed, in seconds: an all-to-all; the slowest
 * rank counts. Verified: every element of every block. */
#include <string.h>

#include "slots/exchange.h"

INLINE void copy_own_block(const struct exchange *exchange, int pass)
{
    const struct part *from = &exchange->sends.part[exchange->rank];
    const struct part *to = &exchange->receives.part[exchange->rank];
    memcpy(incoming(exchange, pass) + to->own, outgoing(exchange, pass) + from->own,
           (size_t)from->elements * sizeof(int64_t));
}

INLINE void send_ready(const struct exchange *exchange, const struct part *part, int pass)
{
    CHECKED(MPI_Rsend(outgoing(exchange, pass) + part->own, part->elements, MPI_INT64_T, part->peer,
                      0, world_communicator));
}

/* ---- THE TIMED LOOPS ---- */

/* A ready send needs a posted receive: after the barrier all receives are posted. */
INLINE void ready_sends(const struct exchange *exchange, int passes, bool copies_own)
{
    for (int pass = 0; pass < passes; pass++) {
        for (int rank = 0; rank < exchange->ranks; rank++) {
            if (copies_own && rank == exchange->rank) {
                exchange->requests[rank] = MPI_REQUEST_NULL;
                continue;
            }
            receive_later(exchange, &exchange->receives.part[rank], pass,
                          &exchange->requests[rank]);
        }
        CHECKED(MPI_Barrier(world_communicator));
        for (int rank = 0; rank < exchange->ranks; rank++) {
            if (copies_own && rank == exchange->rank) {
                copy_own_block(exchange, pass);
                continue;
            }
            send_ready(exchange, &exchange->sends.part[rank], pass);
        }
        CHECKED(MPI_Waitall(exchange->ranks, exchange->requests, exchange->statuses));
    }
}

static void go_ready_all(const struct exchange *exchange, int passes)
{
    ready_sends(exchange, passes, false);
}

static void go_ready_others(const struct exchange *exchange, int passes)
{
    ready_sends(exchange, passes, true);
}

static void go_sendrecv_ring(const struct exchange *exchange, int passes)
{
    const int ranks = exchange->ranks, rank = exchange->rank;
    for (int pass = 0; pass < passes; pass++) {
        for (int step = 1; step < ranks; step++) {
            const struct part *to = &exchange->sends.part[(rank + step) % ranks];
            const struct part *from = &exchange->receives.part[(rank - step + ranks) % ranks];
            CHECKED(MPI_Sendrecv(outgoing(exchange, pass) + to->own, to->elements, MPI_INT64_T,
                                 to->peer, 0, incoming(exchange, pass) + from->own, from->elements,
                                 MPI_INT64_T, from->peer, 0, world_communicator,
                                 MPI_STATUS_IGNORE));
        }
        copy_own_block(exchange, pass);
    }
}

static void go_alltoall(const struct exchange *exchange, int passes)
{
    const int elements = block_elements(exchange);
    for (int pass = 0; pass < passes; pass++) {
        CHECKED(MPI_Alltoall(outgoing(exchange, pass), elements, MPI_INT64_T,
                             incoming(exchange, pass), elements, MPI_INT64_T, world_communicator));
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
    {"ready_all", NO_WINDOW, go_ready_all},         {"ready_others", NO_WINDOW, go_ready_others},
    {"sendrecv_ring", NO_WINDOW, go_sendrecv_ring}, {"alltoall", NO_WINDOW, go_alltoall},
    {"put_lock_all", LOCK_ALL, go_put_flush},       {"put_fence", FENCE, go_put_fence},
};

/* Blocks of distributed data: a vector, or a matrix by rows and columns. With two ranks the blocks
 * of both have the same size. */
static const struct limit_word block_words[] = {
    LIMIT_WORD_ROWS, {"of_vector", 0, 1, 1 << 19}, {"of_matrix", 0, 2, 1 << 20}};

static const struct axis axes[] = {
    INTERFACE_AXIS("ready_all,ready_others,sendrecv_ring,alltoall,put_lock_all,put_fence"),
    FLAVOR_OF_WINDOW_AXIS("put_lock_all,put_fence"),
    {MESSAGE_BYTES("size of a block, a multiple of 8" LIMIT_HELP
                   "; or of_vector, of_matrix: a vector of 512 KiB divided by the number of ranks, "
                   "a matrix of 1 MiB divided by its square",
                   "8,8192", 1 << 24),
     .words = TABLE(block_words)},
};

static const struct option options[] = {EXCHANGE_OPTIONS, LIMIT_OPTIONS(1 << 23)};

static const struct kind kind = {.describe = exchange_describe_blocks, .sequel = 1};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    exchange_run(launch, cell, record, &kind);
}

KERNEL("alltoall_algorithms", "time until each rank has a block of every rank, in six ways",
       .run_cell = run_cell)
