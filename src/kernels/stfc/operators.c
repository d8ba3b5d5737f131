/* Operators: does an accumulate complete while its target computes, and does this depend on the
 * operator, the datatype or the info of the window?
 *
 * Source: own; the MPI Forum left open whether one answer on progress is enough for a window. MPI
 * 4.1, sections 12.2.1 (info keys of a window), 12.3.4 (accumulate functions) and 12.7.1
 * (atomicity). A network card or a shared page can do some operations; for all others a program has
 * to run, the target's or a helper's. Under MPI_THREAD_MULTIPLE, passive target; with `no_locks`
 * post, start, complete and wait. Timed, in seconds: an accumulate and its flush, as the mean of a
 * burst; a single accumulate while rank 0 computes. Verified: every byte of every operand at the
 * target, and all fetched data, with a model in plain C. */
#include "rma/computing.h"
#include "slots/slots.h"

struct named_operator {
    const char *name;
    enum operator_kind operation; /* rma/element.h */
};

struct operand {
    const char *name;
    const char *element; /* as in rma/element.h */
    int elements;
    int stride_bytes; /* from one to the next; bytes between them must not change */
};

struct call {
    const char *name; /* as in rma/operation.h */
    bool one_element; /* a single element of a predefined datatype */
    void (*loop)(struct slots *slots, long long burst);
};

/* What a program promises about its accesses, so that an MPI may do less: an info key of the
 * window. */
struct promise {
    const char *name;
    const char *key, *value;
    bool forbids_locks;
};

/* ---- THE TIMED LOOPS of an origin ---- */

#define SENT (const char *)slots->transfer.payload + slot * slots->transfer.slot_bytes
#define RESULT (char *)slots->transfer.result + slot * slots->transfer.slot_bytes
#define AT TARGET, slots->transfer.displacement + slot * slots->transfer.slot_bytes
#define TYPE slots->transfer.type.type
#define OPERATOR slots->reduces->handle, slots->transfer.epoch.window

INLINE void issue_accumulate(const struct slots *slots, long long slot)
{
    CHECKED(MPI_Accumulate(SENT, 1, TYPE, AT, 1, TYPE, OPERATOR));
}

INLINE void issue_get_accumulate(const struct slots *slots, long long slot)
{
    CHECKED(MPI_Get_accumulate(SENT, 1, TYPE, RESULT, 1, TYPE, AT, 1, TYPE, OPERATOR));
}

INLINE void issue_fetch_and_op(const struct slots *slots, long long slot)
{
    CHECKED(MPI_Fetch_and_op(SENT, RESULT, TYPE, AT, OPERATOR));
}

INLINE void loop(const struct slots *slots, long long burst, enum calls calls,
                 void (*issue)(const struct slots *, long long))
{
    for (long long slot = 0; slot < burst; slot++) {
        begin_epoch(&slots->transfer.epoch, calls, false);
        issue(slots, slot);
        complete_epoch(&slots->transfer.epoch, calls);
    }
}

#define LOOP(name, issue)                                                                          \
    static void name(struct slots *slots, long long burst)                                         \
    {                                                                                              \
        if (slots->posts) {                                                                        \
            loop(slots, burst, START_COMPLETE, issue);                                             \
        } else {                                                                                   \
            loop(slots, burst, NOTHING_FLUSH, issue);                                              \
        }                                                                                          \
    }
LOOP(accumulate, issue_accumulate)
LOOP(get_accumulate, issue_get_accumulate)
LOOP(fetch_and_op, issue_fetch_and_op)

/* ---- Axes ---- */

static const struct call calls[] = {
    {"accumulate", false, accumulate},
    {"get_accumulate", false, get_accumulate},
    {"fetch_and_op", true, fetch_and_op},
};

static const struct named_operator operators[] = {{"sum", SUM},         {"prod", PROD},
                                                  {"max", MAX},         {"band", BAND},
                                                  {"replace", REPLACE}, {"no_op", NO_OP}};

static const struct operand operands[] = {
    {"int32", "int32", 1, sizeof(int32_t)},
    {"int64", "int64", 1, sizeof(int64_t)},
    {"double", "double", 1, sizeof(double)},
    {"struct", "double", 2, 2 * sizeof(double)},
};

/* The default values of keys: same_op_no_op, all four orders, locks. */
static const struct promise promises[] = {
    {"no_key", NULL, NULL, false},
    {"same_op", "accumulate_ops", "same_op", false},
    {"same_op_no_op", "accumulate_ops", "same_op_no_op", false},
    {"no_ordering", "accumulate_ordering", "none", false},
    {"no_locks", "no_locks", "true", true},
};

static const struct axis axes[] = {
    CHOICE_AXIS("operation", "what an origin does to the target's window",
                "accumulate,get_accumulate,fetch_and_op", calls),
    CHOICE_AXIS("operator", "by which MPI_Op", "sum", operators),
    CHOICE_AXIS("element", "on what; struct: two doubles with a gap after each", "int64", operands),
    CHOICE_AXIS("promise", "what the window's info promises", "no_key", promises),
    FLAVOR_AXIS("allocate"),
    IDLE_OR_COMPUTES_AXIS,
};

static const struct option options[] = {TRIAL_OPTIONS("100", "20", "0.05"), MEETING_OPTIONS};

/* ---- A cell ---- */

/* The reason why the standard, or this program, has no such cell; NULL if the cell can run. */
static const char *contradiction(const struct slots *slots, bool one_element, bool computes)
{
    const enum operator_kind operation = slots->reduces->operation;
    if (!is_allowed(slots->element, operation)) {
        return "MPI has no such operator for this datatype";
    }
    if (operation == NO_OP && !slots->makes->fetches) {
        return "MPI_NO_OP belongs to operations that fetch";
    }
    if (one_element && slots->elements > 1) {
        return "the operation takes one element of a predefined datatype";
    }
    if (slots->posts && !slots->makes->fetches) {
        return "without locks its epoch ends when it is complete at the origin, which tells "
               "nothing of the target";
    }
    if (slots->posts && !computes) {
        return "without locks each access of a burst would wait for the target's MPI_Win_post";
    }
    return NULL;
}

static struct slots describe(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct operand *operand = cell_choice(cell, "element");
    const struct named_operator *named = cell_choice(cell, "operator");
    const struct promise *promise = cell_choice(cell, "promise");
    const struct call *call = cell_choice(cell, "operation");
    struct slots slots = slots_of_elements(launch, cell, record, operand->elements,
                                           options_integer(&launch->options, "burst"));
    slots.element = element_named(operand->element);
    slots.stride_bytes = operand->stride_bytes;
    slots.makes = operation_named(call->name);
    slots.reduces = &reductions[named->operation];
    slots.loop = call->loop;
    slots.is_new = true;
    slots.spare = 0;
    slots.info_key = promise->key;
    slots.info_value = promise->value;
    slots.posts = promise->forbids_locks;
    slots.holds_lock_all = !slots.posts;
    return slots;
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct target_state *state = cell_choice(cell, "target_state");
    const struct call *call = cell_choice(cell, "operation");
    struct slots slots = describe(launch, cell, record);
    const char *reason = contradiction(&slots, call->one_element, state->computes);
    if (reason != NULL) {
        record_status(record, CELL_UNSUPPORTED, "%s", reason);
    } else if (!state->computes || meeting_is_supported(launch, record)) {
        slots_run(&slots, "time", state->computes);
    }
}

KERNEL("operators", "does an accumulate's operator decide whether it waits for its target?",
       .run_cell = run_cell)
