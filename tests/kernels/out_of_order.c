/* A kernel for tests: the calls of slots/slots.h, with one call in a wrong order. */
#include "slots/accesses.h"

struct step {
    const char *name;
    void (*take)(struct slots *slots);
};

static void prepare_closed(struct slots *slots)
{
    slots_prepare(slots, 1);
}

static void check_unprepared(struct slots *slots)
{
    slots_open(slots);
    slots_check(slots, 1);
}

static void prepare_twice(struct slots *slots)
{
    slots_open(slots);
    slots_prepare(slots, 1);
    slots_prepare(slots, 1);
}

static void close_unchecked(struct slots *slots)
{
    slots_open(slots);
    slots_prepare(slots, 1);
    slots_close(slots);
}

static const struct step steps[] = {
    {"prepare_closed", prepare_closed},
    {"check_unprepared", check_unprepared},
    {"prepare_twice", prepare_twice},
    {"close_unchecked", close_unchecked},
};

static const struct axis axes[] = {
    CHOICE_AXIS("step", "which call is out of its order", "prepare_closed", steps),
    FLAVOR_AXIS("allocate"),
    WRITE_BYTES_AXIS("8"),
};

static const struct option options[] = {TRIAL_OPTIONS("1", "1", "0.1")};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct step *step = cell_choice(cell, "step");
    struct slots slots = slots_of(launch, cell, record);
    step->take(&slots);
}

KERNEL("out_of_order", "for tests: calls of slots out of their order", .run_cell = run_cell)
