/* The points of a block: filled before a burst, updated in a pass, compared after the burst.
 *
 * A point's value follows from the number of the pass and from its place in the whole grid, so each
 * rank knows what its ghosts must be. */
#include <stdlib.h>

#include "harness/memory.h"
#include "redbook/halo/halo.h"

struct halo halo;

#define NOTHING (-1) /* in a ghost before it is filled; no point has this value */

size_t points_of_slot(int ranks)
{
    size_t most = 0;
    for (int rank = 0; rank < ranks; rank++) {
        const struct block block = domain_block(&halo.domain, rank);
        const struct box all = {.size = {block.whole[0], block.whole[1], block.whole[2]}};
        const size_t points = (size_t)box_points(&all);
        most = points > most ? points : most;
    }
    return most;
}

static bool is_ghost(const struct block *block, const int *at)
{
    bool is = false;
    for (int i = halo.domain.first_dimension; i < DIMENSIONS; i++) {
        is = is || at[i] == 0 || at[i] == block->whole[i] - 1;
    }
    return is;
}

static int64_t value_of(const int *at, uint64_t pass)
{
    return value_of_sample(pass, (size_t)domain_index(&halo.domain, &halo.block, at));
}

/* The state of a function that is called for each point of a box. */
struct visit {
    struct exchange *exchange;
    uint64_t number; /* of the pass */
    int64_t *point;
    const int *at;
};

static void visit_box(const struct box *box, int pass, struct visit visit,
                      void (*each)(const struct visit *visit))
{
    int64_t *field = outgoing(visit.exchange, pass);
    visit.number = visit.exchange->first + (uint64_t)pass;
    for (int i = 0; i < box->size[0]; i++) {
        for (int j = 0; j < box->size[1]; j++) {
            for (int k = 0; k < box->size[2]; k++) {
                const int at[] = {box->begin[0] + i, box->begin[1] + j, box->begin[2] + k};
                visit.at = at;
                visit.point = &field[block_index(&halo.block, at)];
                each(&visit);
            }
        }
    }
}

static struct box whole_block(void)
{
    const int *whole = halo.block.whole;
    return (struct box){.size = {whole[0], whole[1], whole[2]}};
}

/* ---- Before a burst ---- */

static void fill_point(const struct visit *visit)
{
    *visit->point = is_ghost(&halo.block, visit->at) ? NOTHING : value_of(visit->at, visit->number);
}

/* If passes have an update, each thread touches its points and results, so that they are in its
 * cache, as after an earlier update. The results get no valid value. */
static void fill(struct exchange *exchange, int pass)
{
    const struct box box = whole_block();
    if (halo.updates && halo.result == NULL) {
        const size_t slots = (size_t)exchange->slots * exchange->slot_elements;
        halo.result = allocate_pages(slots * sizeof halo.result[0]);
    }
    halo.communication_s = pass == 0 ? 0 : halo.communication_s;
    visit_box(&box, pass, (struct visit){.exchange = exchange}, fill_point);
    if (halo.updates) {
        halo.mask = NOTHING;
        update(exchange, pass);
        halo.mask = 0;
    }
}

/* ---- The update ---- */

/* The sum of a point and its neighbours: three rows of three points in each layer. */
static int64_t sum_around(const int64_t *point)
{
    const int64_t row = halo.block.whole[2], layer = row * halo.block.whole[1];
    const int layers = halo.domain.first_dimension == 0 ? 1 : 0;
    int64_t sum = 0;
    for (int i = -layers; i <= layers; i++) {
        for (int j = -1; j <= 1; j++) {
            const int64_t *middle = point + i * layer + j * row;
            sum += middle[-1] + middle[0] + middle[1];
        }
    }
    return sum;
}

/* The index of the first point of a row of the block; rows are counted through all layers. */
static int64_t row_begin(int row)
{
    const int ghosts = halo.domain.first_dimension == 0 ? 1 : 0;
    const int at[] = {row / halo.block.size[1] + ghosts, row % halo.block.size[1] + 1, 1};
    return block_index(&halo.block, at);
}

void update_part(void *state, int number)
{
    const int64_t *field = outgoing(halo.exchange, halo.pass);
    int64_t *result = halo.result + slot_of(halo.exchange, false, halo.pass);
    const int rows = halo.block.size[0] * halo.block.size[1];
    const int end = rows * (number + 1) / halo.team.count;
    (void)state;
    for (int row = rows * number / halo.team.count; row < end; row++) {
        const int64_t begin = row_begin(row);
        for (int k = 0; k < halo.block.size[2]; k++) {
            result[begin + k] = sum_around(&field[begin + k]) | halo.mask;
        }
    }
}

/* ---- After a burst ---- */

static void compare_point(const struct visit *visit)
{
    verify_element(&visit->exchange->found, *visit->point, value_of(visit->at, visit->number),
                   (size_t)block_index(&halo.block, visit->at), visit->number);
}

/* Compare the results with sums over the points, which are verified first. */
static void compare_result(struct exchange *exchange, int pass)
{
    const int64_t *field = outgoing(exchange, pass);
    const int64_t *result = halo.result + slot_of(exchange, false, pass);
    for (int row = 0; row < halo.block.size[0] * halo.block.size[1]; row++) {
        const int64_t begin = row_begin(row);
        for (int64_t index = begin; index < begin + halo.block.size[2]; index++) {
            verify_element(&exchange->found, result[index], sum_around(&field[index]),
                           (size_t)index, exchange->first + (uint64_t)pass);
        }
    }
}

static void compare(struct exchange *exchange, int pass)
{
    const struct box box = whole_block();
    visit_box(&box, pass, (struct visit){.exchange = exchange}, compare_point);
    if (halo.updates) {
        compare_result(exchange, pass);
    }
}

const struct contents points = {.fill = fill, .compare = compare};
