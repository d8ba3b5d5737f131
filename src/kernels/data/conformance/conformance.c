/* Conformance: are the bytes right?
 *
 * Source: MPI 4.1, chapter 12 (windows, calls, epochs, what each completion promises), sections 5.1
 * (typemaps) and 6.9 (operators). A cell is a call with its datatypes on both sides, in a window
 * and an epoch. Its values, and the layouts called `drawn`, follow from the seed and the cell.
 * Every byte of every window and of every buffer is compared with a model in plain C (model.c,
 * shape.c), as soon as a completion allows this. After a request's wait or a flush_local the origin
 * compares its buffers, and overwrites what it sent. After a flush, an unlock, a fence or a wait
 * the target compares its window. Timed, in seconds: all operations of a round until they are
 * complete; nothing is concluded from this time. */
#include "data/conformance/call.h"
#include "data/conformance/cell_data.h"
#include "data/conformance/large.h"
#include "data/conformance/trip.h"

#define ATOMIC_CALLS                                                                               \
    "call=accumulate,get_accumulate,fetch_and_op,compare_and_swap,raccumulate,rget_accumulate"
#define REDUCING_CALLS "call=accumulate,get_accumulate,fetch_and_op,raccumulate,rget_accumulate"
#define CALLS_WITH_LAYOUTS                                                                         \
    "call=put,get,accumulate,get_accumulate,rput,rget,raccumulate,rget_accumulate"

static const struct named overlaps[] = {{"apart", APART}, {"same", SAME}, {"all_ranks", ALL_RANKS}};
static const struct named roles[] = {{"last", LAST}, {"first", FIRST}, {"self", SELF}};
static const struct named memories[] = {{"every", 0}, {"one", 1}};
static const struct named sizes[] = {{"roomy", 0}, {"exact", 1}};
static const struct named windows[] = {{"1", 1}, {"2", 2}, {"8", 8}, {"8_freed_backwards", -8}};
static const struct named datatypes[] = {{"kept", 0}, {"freed_early", 1}};

static const struct axis axes[] = {
    CHOICE_AXIS("call", "what accesses the window", "put,get,accumulate,get_accumulate,rget",
                calls),
    CHOICE_AXIS_ONLY_WITH("operator", "what is made of the target's value and the origin's", "sum",
                          reductions, REDUCING_CALLS),
    CHOICE_AXIS("element", "predefined datatype of the elements", "int32", elements),
    {.name = "count",
     .help = "items of an operation, at least",
     .kind = AXIS_INTEGER,
     .fallback = "3",
     .minimum = 0,
     .maximum = 1 << 29,
     .only_with = CALLS_WITH_LAYOUTS},
    CHOICE_AXIS_ONLY_WITH("layout_origin", "where the elements are at the origin", "vector",
                          layouts, CALLS_WITH_LAYOUTS),
    {.name = "layout_target",
     .help = "where they are at the target",
     .kind = AXIS_CHOICE,
     .fallback = "indexed",
     .choices = {layouts, LAYOUTS_OF_TARGETS, sizeof layouts[0]},
     .only_with = CALLS_WITH_LAYOUTS},
    FLAVOR_AXIS("allocate"),
    SYNCHRONISATION_AXIS("lock_all_flush"),
    INTEGER_AXIS("outstanding", "operations before the call that completes them", "4", 1, 1 << 14),
    CHOICE_AXIS_ONLY_WITH("overlap", "places of the operations: each its own, or one", "apart",
                          overlaps, ATOMIC_CALLS),
    CHOICE_AXIS("target", "rank that is accessed: by the first, by the last, by itself", "last",
                roles),
    CHOICE_AXIS("memory", "ranks that have memory in the window", "every", memories),
    CHOICE_AXIS("window", "bytes beside what is accessed: 64 on both sides, or none", "roomy",
                sizes),
    CHOICE_AXIS("windows", "windows at a time, and the order in which they are freed", "1",
                windows),
    CHOICE_AXIS("datatypes", "freed before or after completion", "kept", datatypes),
};

static const struct option options[] = {
    {"rounds", "N", "rounds of a cell, each with values of its own", OPTION_INTEGER, "2", 1, 1000},
    {"cell-data", "FILE", "append the first round of each cell, with every byte, as JSON",
     OPTION_TEXT, NULL, 0, 0},
};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    struct plan plan;
    const long long rounds = options_integer(&launch->options, "rounds");
    if (!plan_read(&plan, launch, cell, record)) {
        return;
    }
    if (is_large(&plan)) {
        large_run(&plan, record);
        plan_free(&plan);
        return;
    }
    cell_data_write(&plan);
    struct trip trip = trip_open(&plan);
    struct series *time = is_origin(&plan, launch->rank)
                              ? record_series(record, "time", "s", plan.outstanding)
                              : NULL;
    record_window(record, trip.windows[0].handle, plan.flavor->name,
                  (long long)window_bytes(&plan));
    for (plan.round = 0; plan.round < rounds; plan.round++) {
        for (int window = 0; window < plan.windows; window++) {
            trip_run(&trip, window);
            if (time != NULL) {
                series_add(time, trip.passed_s / plan.outstanding);
            }
        }
        for (int window = 0; plan.windows > 1 && window < plan.windows; window++) {
            trip_look_again(&trip, window);
        }
    }
    const struct verification *found[] = {&trip.at_target, &trip.at_result, &trip.at_origin};
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
        if (found[i]->checked > 0) {
            record_verification(record, *found[i]);
        }
    }
    trip_close(&trip);
    plan_free(&plan);
}

KERNEL("conformance", "are the bytes right? Calls, datatypes, windows and epochs",
       .run_cell = run_cell)
