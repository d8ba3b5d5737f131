/* The matrix of a transform: the datatypes of its blocks, its values, and their verification. */
#include "redbook/transpose/transform.h"

#include <math.h>
#include <stdlib.h>

#include "harness/memory.h"
#include "mpi/checked.h"
#include "mpi/world.h"
#include "slots/messages.h"

#define ELEMENT_MAX 8   /* no sum of two elements of a matrix is greater */
#define TOLERANCE 1e-9  /* of the greatest element of a result */
#define QUANTUM 0x1p-30 /* of compared numbers: finer than the tolerance */
#define BYTES(elements) ((MPI_Aint)((size_t)(elements) * sizeof(complex_number)))

/* ---- Blocks ---- */

static MPI_Datatype resized(MPI_Datatype old, MPI_Aint extent)
{
    MPI_Datatype type;
    CHECKED(MPI_Type_create_resized(old, 0, extent, &type));
    CHECKED(MPI_Type_commit(&type));
    CHECKED(MPI_Type_free(&old));
    return type;
}

static void make_pieces(struct transform *transform)
{
    const int columns = transform->columns, order = transform->order;
    MPI_Datatype block, row, rows;
    CHECKED(MPI_Type_vector(columns, columns, order, MPI_C_DOUBLE_COMPLEX, &block));
    CHECKED(MPI_Type_vector(columns, 1, order, MPI_C_DOUBLE_COMPLEX, &row));
    CHECKED(MPI_Type_create_hvector(columns, 1, BYTES(1), row, &rows));
    block = resized(block, BYTES(columns));
    rows = resized(rows, BYTES(columns));
    row = resized(row, BYTES(1));
    transform->pieces[BLOCK] = (struct pieces){.pieces = 1, .count = 1, .type = block};
    transform->pieces[BLOCK_BY_ROWS] = (struct pieces){.pieces = 1, .count = 1, .type = rows};
    transform->pieces[COLUMNS] = (struct pieces){
        .pieces = columns, .count = columns, .type = MPI_C_DOUBLE_COMPLEX, .stride = order};
    transform->pieces[ROWS] =
        (struct pieces){.pieces = columns, .count = 1, .type = row, .stride = 1};
}

static void free_pieces(struct transform *transform)
{
    CHECKED(MPI_Type_free(&transform->pieces[BLOCK].type));
    CHECKED(MPI_Type_free(&transform->pieces[BLOCK_BY_ROWS].type));
    CHECKED(MPI_Type_free(&transform->pieces[ROWS].type));
}

/* Make the buffers for packed blocks and for buffered messages: of the steps between two barriers,
 * or of all steps. */
static void make_buffers(struct transform *transform)
{
    const struct interface *interface = transform->interface;
    const struct pieces *sent = &transform->pieces[interface->sent];
    const int steps =
        interface->barrier_every > 0 ? interface->barrier_every : transform->ranks - 1;
    int piece_bytes;
    CHECKED(MPI_Pack_size(sent->count, sent->type, world_communicator, &piece_bytes));
    transform->packed_bytes = steps * sent->pieces * (piece_bytes + MPI_BSEND_OVERHEAD);
    transform->packed[0] = allocate_pages((size_t)transform->packed_bytes);
    transform->packed[1] = allocate_pages((size_t)transform->packed_bytes);
    transform->spare = allocate((size_t)transform->columns * (size_t)transform->columns,
                                sizeof transform->spare[0]);
    transform->counts = allocate((size_t)transform->ranks, sizeof transform->counts[0]);
    transform->begins = allocate((size_t)transform->ranks, sizeof transform->begins[0]);
    for (int side = 0; side < 2; side++) {
        const enum shape shape = side == 0 ? interface->sent : interface->received;
        transform->types[side] = allocate((size_t)transform->ranks, sizeof(MPI_Datatype));
        for (int rank = 0; rank < transform->ranks; rank++) {
            transform->counts[rank] = 1;
            transform->begins[rank] = (int)BYTES(rank * transform->columns);
            transform->types[side][rank] = transform->pieces[shape].type;
        }
    }
}

bool transform_open(struct transform *transform)
{
    const size_t elements = (size_t)transform->order * (size_t)transform->columns;
    const struct flavor *flavor = cell_choice(transform->cell, "flavor");
    if (transform->interface->epochs != NO_WINDOW &&
        !window_is_supported(transform->launch, flavor, transform->record)) {
        return false;
    }
    transform->own = allocate_pages(elements * sizeof transform->own[0]);
    transform->received = transform->own;
    if (transform->interface->epochs != NO_WINDOW) {
        transform->window = window_open(transform->launch, flavor, BYTES(elements));
        transform->received = transform->window.memory;
        record_window(transform->record, transform->window.handle, flavor->name, BYTES(elements));
    } else if (!transform->interface->is_in_place) {
        transform->received = allocate_pages(elements * sizeof transform->received[0]);
    }
    if (transform->interface->epochs == LOCK_ALL) {
        window_hold(&transform->window);
    }
    transform->fft = fft_open(transform->order);
    make_pieces(transform);
    make_buffers(transform);
    return true;
}

void transform_close(struct transform *transform)
{
    free_pieces(transform);
    fft_close(&transform->fft);
    if (transform->interface->epochs != NO_WINDOW) {
        window_close(&transform->window);
    } else if (!transform->interface->is_in_place) {
        free(transform->received);
    }
    for (int side = 0; side < 2; side++) {
        free(transform->packed[side]);
        free(transform->types[side]);
    }
    free(transform->own);
    free(transform->spare);
    free(transform->counts);
    free(transform->begins);
}

/* ---- Elements ---- */

static bool is_by_rows(enum shape shape)
{
    return shape == BLOCK_BY_ROWS || shape == ROWS;
}

void transform_blocks(const struct transform *transform)
{
    const int columns = transform->columns;
    const size_t order = (size_t)transform->order;
    const struct interface *interface = transform->interface;
    const bool is_done = is_by_rows(interface->sent) != is_by_rows(interface->received);
    for (int block = 0; block < transform->ranks; block++) {
        const bool is_left = interface->is_in_place && block == transform->rank;
        complex_number *first = transform->received + block * columns;
        for (int j = 1; j < columns && (is_left || !is_done); j++) {
            for (int i = 0; i < j; i++) {
                const complex_number above = first[(size_t)j * order + (size_t)i];
                first[(size_t)j * order + (size_t)i] = first[(size_t)i * order + (size_t)j];
                first[(size_t)i * order + (size_t)j] = above;
            }
        }
    }
}

/* A sample's matrix: in each column one element is not zero, a row further down from column to
 * column (the line); and a single further element is added. */
struct matrix {
    double on_line, single;
    int line_row; /* in column 0 */
    int row, column;
};

static struct matrix matrix_of(const struct transform *transform, uint64_t sample)
{
    const int order = transform->order;
    if (sample <= 1) {
        return (struct matrix){.single = 1};
    }
    return (struct matrix){.on_line = 1 + (double)(sample % 5),
                           .single = 1 + (double)(sample % 3),
                           .line_row = (int)(sample * 7 % (uint64_t)order),
                           .row = (int)(sample * 3 % (uint64_t)order),
                           .column = (int)(sample * 5 % (uint64_t)order)};
}

void transform_fill(struct transform *transform)
{
    const int order = transform->order, columns = transform->columns;
    const struct matrix matrix = matrix_of(transform, transform->sample);
    window_begin_between(&transform->window);
    for (int j = 0; j < columns; j++) {
        const int column = transform->rank * columns + j;
        for (int row = 0; row < order; row++) {
            const size_t place = (size_t)j * (size_t)order + (size_t)row;
            const bool is_on_line = row == (matrix.line_row + column) % order;
            const bool is_single = row == matrix.row && column == matrix.column;
            transform->received[place] = NOTHING;
            transform->own[place] = is_on_line * matrix.on_line +
                                    is_single * matrix.single; /* last: `received` may be `own` */
        }
    }
    window_end_between(&transform->window);
}

/* The transform of a sample's matrix, in the transposed order that the exchange leaves. */
static complex_number expected(const struct transform *transform, const struct matrix *matrix,
                               long long row, long long column)
{
    const int order = transform->order;
    const complex_number *roots = transform->fft.roots;
    const complex_number line =
        (row + column) % order == 0
            ? matrix->on_line * order * roots[matrix->line_row * column % order]
            : 0;
    return line + matrix->single * roots[(matrix->row * column + matrix->column * row) % order];
}

static int64_t quantised(double number)
{
    return isfinite(number) && fabs(number) < 1e9 ? llround(number / QUANTUM) : NOTHING;
}

/* A number is right if its error is so small that only rounding explains it. */
static void compare(struct transform *transform, double found, double right, size_t place)
{
    const bool is_near = fabs(found - right) <= TOLERANCE * ELEMENT_MAX * transform->order;
    verify_element(&transform->found, quantised(is_near ? right : found), quantised(right), place,
                   transform->sample);
}

void transform_compare(struct transform *transform)
{
    const struct matrix matrix = matrix_of(transform, transform->sample);
    window_begin_between(&transform->window);
    for (int j = 0; j < transform->columns; j++) {
        const int column = transform->rank * transform->columns + j;
        for (int row = 0; row < transform->order; row++) {
            const size_t place = (size_t)j * (size_t)transform->order + (size_t)row;
            const complex_number found = transform->received[place];
            const complex_number right = expected(transform, &matrix, row, column);
            compare(transform, creal(found), creal(right), place);
            compare(transform, cimag(found), cimag(right), place);
        }
    }
    window_end_between(&transform->window);
}

uint32_t transform_checksum(const struct transform *transform)
{
    const unsigned char *bytes = (const unsigned char *)transform->received;
    const size_t count = (size_t)BYTES(transform->order) * (size_t)transform->columns;
    uint32_t sum = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < count; i++) {
        sum = (sum ^ bytes[i]) * 16777619u;
    }
    return sum;
}
