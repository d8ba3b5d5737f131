/* Transpose: a two-dimensional Fourier transform, whose matrix is transposed among all ranks.
 *
 * Source: Marcelo Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM,
 * SG24-5611-00, 1999), section 3.3.3 and its table 15. Each rank has columns of the matrix. It
 * transforms its columns, the ranks exchange blocks, each rank transposes its blocks in place, and
 * transforms its columns again. Blocks are exchanged by buffered sends of columns or of whole
 * blocks, also with barriers; by synchronous sends; by MPI_Alltoall; as packed blocks; and with
 * datatypes that differ at the two ends, so that MPI transposes the blocks. One-sided twins: puts
 * with derived datatypes. The Fourier transforms are the kernel's own (fft.h). Timed, in seconds:
 * the whole, the exchange, the local transposition, and the two Fourier transforms with the barrier
 * after the first, so that the exchange waits for no rank's columns. Verified: every element of the
 * result, by the formula for its matrix. */
#include <stdlib.h>
#include <string.h>

#include "mpi/checked.h"
#include "mpi/trial.h"
#include "mpi/world.h"
#include "redbook/transpose/transform.h"

#define ORDER_MAX 8192
#define CHECKSUM_SAMPLE 2 /* all cells record a checksum of this sample's result */

static void send_buffered(const struct transform *transform, int partner)
{
    const struct pieces *sent = sent_pieces(transform);
    for (int piece = 0; piece < sent->pieces; piece++) {
        CHECKED(MPI_Bsend(block_of(transform, partner) + (size_t)piece * (size_t)sent->stride,
                          sent->count, sent->type, partner, piece, world_communicator));
    }
}

static void receive_pieces(const struct transform *transform, int partner)
{
    const struct pieces *received = received_pieces(transform);
    for (int piece = 0; piece < received->pieces; piece++) {
        CHECKED(MPI_Recv(block_of(transform, partner) + (size_t)piece * (size_t)received->stride,
                         received->count, received->type, partner, piece, world_communicator,
                         MPI_STATUS_IGNORE));
    }
}

/* ---- THE TIMED COMMUNICATION ---- */

static void go_buffered(const struct transform *transform)
{
    const int every = transform->interface->barrier_every;
    void *buffer = transform->packed[0];
    int bytes = transform->packed_bytes;
    CHECKED(MPI_Buffer_attach(buffer, bytes));
    for (int step = first_step(transform); step < transform->ranks; step++) {
        const int partner = partner_of(transform, step);
        if (partner != transform->rank) {
            send_buffered(transform, partner);
            receive_pieces(transform, partner);
        }
        if (every > 0 && (step + 1 - first_step(transform)) % every == 0) {
            CHECKED(MPI_Barrier(world_communicator));
        }
    }
    CHECKED(MPI_Buffer_detach(&buffer, &bytes));
}

/* The higher rank of a pair receives into spare memory before it sends its block. */
static void go_synchronous(const struct transform *transform)
{
    const size_t columns = (size_t)transform->columns, order = (size_t)transform->order;
    const struct pieces *sent = sent_pieces(transform);
    for (int step = first_step(transform); step < transform->ranks; step++) {
        const int partner = partner_of(transform, step);
        complex_number *block = block_of(transform, partner);
        if (partner == transform->rank) {
            continue;
        }
        if (partner < transform->rank) {
            CHECKED(MPI_Recv(transform->spare, (int)(columns * columns), MPI_C_DOUBLE_COMPLEX,
                             partner, 0, world_communicator, MPI_STATUS_IGNORE));
        }
        CHECKED(MPI_Ssend(block, sent->count, sent->type, partner, 0, world_communicator));
        if (partner > transform->rank) {
            receive_pieces(transform, partner);
            continue;
        }
        for (size_t j = 0; j < columns; j++) {
            memcpy(block + j * order, transform->spare + j * columns, columns * sizeof block[0]);
        }
    }
}

static void go_packed(const struct transform *transform)
{
    const struct pieces *sent = sent_pieces(transform), *received = received_pieces(transform);
    const int bytes = transform->packed_bytes;
    for (int step = first_step(transform); step < transform->ranks; step++) {
        const int partner = partner_of(transform, step);
        complex_number *block = block_of(transform, partner);
        int packed = 0, unpacked = 0;
        if (partner == transform->rank) {
            continue;
        }
        for (int piece = 0; piece < sent->pieces; piece++) {
            CHECKED(MPI_Pack(block + (size_t)piece * (size_t)sent->stride, sent->count, sent->type,
                             transform->packed[0], bytes, &packed, world_communicator));
        }
        CHECKED(MPI_Sendrecv(transform->packed[0], packed, MPI_PACKED, partner, 0,
                             transform->packed[1], bytes, MPI_PACKED, partner, 0,
                             world_communicator, MPI_STATUS_IGNORE));
        for (int piece = 0; piece < received->pieces; piece++) {
            CHECKED(MPI_Unpack(transform->packed[1], bytes, &unpacked,
                               block + (size_t)piece * (size_t)received->stride, received->count,
                               received->type, world_communicator));
        }
    }
}

static void go_alltoall(const struct transform *transform)
{
    CHECKED(MPI_Alltoall(transform->own, 1, sent_pieces(transform)->type, transform->received, 1,
                         received_pieces(transform)->type, world_communicator));
}

static void go_alltoallw(const struct transform *transform)
{
    CHECKED(MPI_Alltoallw(transform->own, transform->counts, transform->begins, transform->types[0],
                          transform->received, transform->counts, transform->begins,
                          transform->types[1], world_communicator));
}

/* No two ranks put to the same rank first. */
static void put_blocks(const struct transform *transform)
{
    const MPI_Aint offset =
        (MPI_Aint)((size_t)(transform->rank * transform->columns) * sizeof transform->own[0]);
    for (int step = 0; step < transform->ranks; step++) {
        const int target = (transform->rank + step) % transform->ranks;
        CHECKED(MPI_Put(block_of(transform, target), 1, sent_pieces(transform)->type, target,
                        transform->window.begins[target] + offset, 1,
                        received_pieces(transform)->type, transform->window.handle));
    }
}

static void go_put_fence(const struct transform *transform)
{
    put_blocks(transform);
    CHECKED(MPI_Win_fence(MPI_MODE_NOSUCCEED, transform->window.handle));
}

static void go_put_flush(const struct transform *transform)
{
    put_blocks(transform);
    CHECKED(MPI_Win_flush_all(transform->window.handle));
    CHECKED(MPI_Barrier(world_communicator));
    CHECKED(MPI_Win_sync(transform->window.handle));
}

static const struct interface interfaces[] = {
    {"bsend_columns", NO_WINDOW, COLUMNS, COLUMNS, true, 0, go_buffered},
    {"bsend_block", NO_WINDOW, BLOCK, BLOCK, true, 0, go_buffered},
    {"bsend_barrier", NO_WINDOW, BLOCK, BLOCK, true, 2, go_buffered},
    {"bsend_column_row", NO_WINDOW, BLOCK, BLOCK_BY_ROWS, true, 0, go_buffered},
    {"bsend_row_column", NO_WINDOW, BLOCK_BY_ROWS, BLOCK, true, 0, go_buffered},
    {"bsend_1d_column_row", NO_WINDOW, COLUMNS, ROWS, true, 0, go_buffered},
    {"bsend_1d_row_column", NO_WINDOW, ROWS, COLUMNS, true, 0, go_buffered},
    {"ssend", NO_WINDOW, BLOCK, BLOCK, true, 0, go_synchronous},
    {"pack_columns", NO_WINDOW, COLUMNS, COLUMNS, true, 0, go_packed},
    {"pack_block", NO_WINDOW, BLOCK, BLOCK, true, 0, go_packed},
    {"alltoall", NO_WINDOW, BLOCK, BLOCK, false, 0, go_alltoall},
    {"alltoallw_column_row", NO_WINDOW, BLOCK, BLOCK_BY_ROWS, false, 0, go_alltoallw},
    {"put_fence", FENCE, BLOCK, BLOCK, false, 0, go_put_fence},
    {"put_fence_column_row", FENCE, BLOCK, BLOCK_BY_ROWS, false, 0, go_put_fence},
    {"put_lock_all", LOCK_ALL, BLOCK, BLOCK, false, 0, go_put_flush},
    {"put_lock_all_column_row", LOCK_ALL, BLOCK, BLOCK_BY_ROWS, false, 0, go_put_flush},
};
#define PUTS "put_fence,put_fence_column_row,put_lock_all,put_lock_all_column_row"

static const struct axis axes[] = {
    CHOICE_AXIS("interface", "how the matrix is transposed",
                "bsend_columns,bsend_block,bsend_barrier,bsend_column_row,bsend_row_column,"
                "bsend_1d_column_row,bsend_1d_row_column,ssend,pack_columns,pack_block,alltoall,"
                "alltoallw_column_row," PUTS,
                interfaces),
    FLAVOR_ONLY_WITH_AXIS("create,allocate", "interface=" PUTS),
    INTEGER_AXIS("order", "of the matrix: a multiple of the ranks, without a prime factor above 7",
                 "48", 4, ORDER_MAX),
};

static const struct option options[] = {TRIAL_OPTIONS("1", "20", "0.1")};

static void prepare(void *state, long long burst)
{
    struct transform *transform = state;
    (void)burst;
    transform->sample++;
    transform_fill(transform);
    if (transform->interface->epochs == FENCE) {
        CHECKED(MPI_Win_fence(MPI_MODE_NOPRECEDE, transform->window.handle));
    }
}

static double go(void *state, long long burst)
{
    struct transform *transform = state;
    (void)burst;
    const double begin_s = clock_now_s();
    fft_columns(&transform->fft, transform->own, transform->columns);
    CHECKED(MPI_Barrier(world_communicator));
    const double exchange_s = clock_now_s();
    transform->interface->go(transform);
    const double local_s = clock_now_s();
    transform_blocks(transform);
    const double fourier_s = clock_now_s();
    fft_columns(&transform->fft, transform->received, transform->columns);
    const double end_s = clock_now_s();
    transform->spent_s[TOTAL] = end_s - begin_s;
    transform->spent_s[COMMUNICATION] = local_s - exchange_s;
    transform->spent_s[LOCAL] = fourier_s - local_s;
    transform->spent_s[FOURIER] = (exchange_s - begin_s) + (end_s - fourier_s);
    return transform->spent_s[TOTAL];
}

static void check(void *state, long long burst)
{
    (void)burst;
    transform_compare(state);
}

static void keep(void *state, long long burst)
{
    static const char *const names[SPENT] = {"time", "communication", "local", "fourier"};
    struct transform *transform = state;
    for (int i = 0; i < SPENT; i++) {
        series_keep(transform->record, &transform->series[i], names[i], "s", burst,
                    transform->spent_s[i]);
    }
}

static void take_samples(struct transform *transform)
{
    const struct trial trial = {.launch = transform->launch,
                                .cell = transform->cell,
                                .record = transform->record,
                                .state = transform,
                                .longest = 1,
                                .prepare = prepare,
                                .go = go,
                                .check = check,
                                .keep = keep};
    trial_run(&trial);
    transform->sample = CHECKSUM_SAMPLE - 1;
    prepare(transform, 1);
    go(transform, 1);
    check(transform, 1);
    record_verification(transform->record, transform->found);
    series_add(record_series(transform->record, "matrix_checksum", "1", 1),
               transform_checksum(transform));
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const int order = (int)cell_number(cell, "order");
    struct transform transform = {.launch = launch,
                                  .cell = cell,
                                  .record = record,
                                  .interface = cell_choice(cell, "interface"),
                                  .rank = launch->rank,
                                  .ranks = launch->ranks,
                                  .order = order,
                                  .columns = order / launch->ranks,
                                  .found = {.name = "matrix"}};
    if (order % launch->ranks != 0 || !fft_is_supported(order)) {
        record_status(record, CELL_UNSUPPORTED,
                      "order is %d, no multiple of %d ranks without a prime factor above 7", order,
                      launch->ranks);
        return;
    }
    watchdog_phase = "window";
    if (transform_open(&transform)) {
        take_samples(&transform);
        watchdog_phase = "window";
        transform_close(&transform);
    }
}

KERNEL("transpose", "time of a two-dimensional Fourier transform and of its parts",
       .run_cell = run_cell)
