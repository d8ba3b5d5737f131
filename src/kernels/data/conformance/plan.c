/* The plan of a cell: what is called, with which values, and where everything is. */
#include "data/conformance/plan.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "data/conformance/call.h"

static long long value_of(const struct cell *cell, const char *axis)
{
    const struct named *row = cell_choice(cell, axis);
    return row == NULL ? 0 : row->value;
}

/* Place so many items in a slot; slots have the alignment of an element. */
static void lay(struct placed *placed, long long count, const struct element *element)
{
    const struct typemap *map = &placed->map;
    const MPI_Aint last = (count > 0 ? count - 1 : 0) * map->extent;
    const MPI_Aint low = map->lowest + (last < 0 ? last : 0);
    const MPI_Aint high = map->highest + (last > 0 ? last : 0);
    const MPI_Aint unit = (MPI_Aint)element->bytes;
    placed->count = count;
    placed->shift = low < 0 ? -low : 0;
    placed->bytes = count == 0 || map->elements == 0 ? 0 : placed->shift + high;
    placed->slot = (placed->bytes + unit - 1) / unit * unit;
}

/* A random tree depends on seed, side and element alone: a cell made smaller keeps its tree. */
static uint64_t tree_seed(const struct plan *plan, int side)
{
    const uint64_t seed = (uint64_t)options_integer(&plan->launch->options, "seed");
    return mixed(mixed(seed, (uint64_t)(plan->element - elements)), (uint64_t)side);
}

static void choose_shape(struct plan *plan, struct placed *placed, const char *axis)
{
    const struct layout *layout = cell_choice(plan->cell, axis);
    layout = layout == NULL ? &layouts[0] : layout;
    const int side = placed == &plan->target;
    placed->shape = layout->shape != NULL ? layout->shape
                                          : shape_draw(&plan->drawn[side], tree_seed(plan, side));
    placed->is_absolute = layout->is_absolute;
    placed->map = typemap_of(placed->shape, plan->element);
}

/* Place items on both sides so that both have equally many elements: `count` times the least
 * number. */
static void lay_both(struct plan *plan, long long count)
{
    const long long n = (long long)plan->origin.map.elements;
    const long long m = (long long)plan->target.map.elements;
    long long a = n, b = m;
    while (b != 0) {
        const long long rest = a % b;
        a = b;
        b = rest;
    }
    const bool has_elements = n > 0 && m > 0;
    lay(&plan->origin, has_elements ? count * m / a : n == 0 ? count : 0, plan->element);
    lay(&plan->target, has_elements ? count * n / a : m == 0 ? count : 0, plan->element);
    plan->elements = has_elements ? count * m / a * n : 0;
}

static const char *forbidden(const struct plan *plan)
{
    const struct call *call = plan->call;
    const bool is_fetched = call->fetches && plan->overlap == ALL_RANKS;
    const bool is_ordered = plan->reduction != NULL && plan->reduction->operation == REPLACE;
    if (plan->reduction != NULL && !is_allowed(plan->element, plan->reduction->operation)) {
        return "MPI has not this operator for this element (MPI 4.1, 6.9.2)";
    }
    if (plan->reduction != NULL && plan->reduction->operation == NO_OP && !call->fetches) {
        return "MPI_NO_OP is for calls that fetch (MPI 4.1, 12.3.4)";
    }
    if (call->compares && !is_swappable(plan->element)) {
        return "compare_and_swap is for integers, logicals and bytes (MPI 4.1, 12.3.4)";
    }
    if (call->has_request && plan->synchronisation->kind != PASSIVE) {
        return "requests are for passive target epochs (MPI 4.1, 12.3.5)";
    }
    if (plan->overlap == ALL_RANKS && (is_fetched || is_ordered || call->compares)) {
        return "what all ranks at one place make of this depends on their order";
    }
    return plan->origin.count > INT_MAX || plan->target.count > INT_MAX
               ? "a count of MPI_Put has 31 bits"
               : NULL;
}

bool plan_read(struct plan *plan, const struct launch *launch, const struct cell *cell,
               struct record *record)
{
    const enum role role = (enum role)value_of(cell, "target");
    *plan = (struct plan){
        .launch = launch,
        .cell = cell,
        .call = cell_choice(cell, "call"),
        .reduction = cell_choice(cell, "operator"),
        .element = cell_choice(cell, "element"),
        .flavor = cell_choice(cell, "flavor"),
        .synchronisation = cell_choice(cell, "synchronisation"),
        .outstanding = (int)cell_number(cell, "outstanding"),
        .overlap = (enum overlap)value_of(cell, "overlap"),
        .origin_rank = role == FIRST ? launch->ranks - 1 : 0,
        .target_rank = role == LAST ? launch->ranks - 1 : 0,
        .is_exact = value_of(cell, "window") != 0,
        .windows = abs((int)value_of(cell, "windows")),
        .frees_backwards = value_of(cell, "windows") < 0,
        .frees_types = value_of(cell, "datatypes") != 0,
        .seed = mixed((uint64_t)options_integer(&launch->options, "seed"), 2),
    };
    for (const char *letter = cell->id; *letter != '\0'; letter++) {
        plan->seed = mixed(plan->seed, (uint64_t)*letter);
    }
    plan->has_memory = value_of(cell, "memory") == 0 || launch->rank == plan->target_rank;
    choose_shape(plan, &plan->origin, "layout_origin");
    choose_shape(plan, &plan->target, "layout_target");
    lay_both(plan, plan->call->is_single ? 1 : (long long)cell_number(cell, "count"));
    const char *reason = forbidden(plan);
    if (reason != NULL) {
        record_status(record, CELL_UNSUPPORTED, "%s", reason);
    } else if (window_is_supported(launch, plan->flavor, record)) {
        return true;
    }
    plan_free(plan);
    return false;
}

void plan_free(struct plan *plan)
{
    free(plan->origin.map.at);
    free(plan->target.map.at);
}

bool is_origin(const struct plan *plan, int rank)
{
    return plan->overlap == ALL_RANKS || rank == plan->origin_rank;
}

long long target_slots(const struct plan *plan)
{
    return plan->overlap == APART ? plan->outstanding : 1;
}

MPI_Aint window_lead(const struct plan *plan)
{
    return plan->is_exact ? 0 : MARGIN_BYTES;
}

MPI_Aint window_bytes(const struct plan *plan)
{
    const MPI_Aint slots = (target_slots(plan) - 1) * plan->target.slot + plan->target.bytes;
    return 2 * window_lead(plan) + slots;
}

MPI_Aint buffer_bytes(const struct plan *plan)
{
    return plan->outstanding * plan->origin.slot + 2 * window_lead(plan);
}

MPI_Aint placed_at(const struct placed *placed, long long slot, long long element)
{
    const long long items = (long long)placed->map.elements;
    return slot * placed->slot + placed->shift + placed->map.at[element % items] +
           element / items * placed->map.extent;
}
