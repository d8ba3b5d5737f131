/* Operators: does it depend on the operator, the datatype or the info of its window whether an
 * accumulate completes while its target computes?
 *
 * Source: own; the question on which an attribute for progress stalled in the MPI Forum, and MPI
 * 4.1, sections 12.2.1 (info keys of a window), 12.3.4 (accumulate functions) and 12.7.1
 * (atomicity). What a network card or a shared page can add, an MPI may leave to it; for all else a
 * program has to run, the target's or a helper's. Under MPI_THREAD_MULTIPLE, passive target; with
 * `no_locks` post, start, complete and wait. Timed, in seconds: an accumulate and its flush, the
 * mean of a burst; a single one that meets rank 0 while it computes. Verified: every byte of every
 * operand at the target, and all that is fetched, with a model in plain C. */
#include "harness/watchdog.h"
#include "mpi/trial.h"
#include "mpi/world.h"
#include "rma/computing.h"
#include "rma/synchronisation.h"
#include "rma/window.h"
#include "stfc/operators/operand.h"

#define TARGET 0

struct operators;

struct named_operator {
    const char *name;
    enum operation operation; /* rma/element.h */
};

struct call {
    const char *name;
    bool fetches;
    bool one_element; /* of a predefined datatype */
    void (*go)(const struct operators *own, long long burst);
};

/* What a program promises of its accesses, so that an MPI may do less: an info key of the window.
 */
struct promise {
    const char *name;
    const char *key, *value;
    bool forbids_locks;
};

struct operators {
    struct slots slots;
    const struct call *call;
    const struct promise *promise;
    bool is_target;
    struct window window;
    struct epoch epoch;
    MPI_Datatype type; /* of an operand */
    int bytes;         /* from one to the next */
    MPI_Aint begin;    /* of this origin's slots */
};

/* ---- THE TIMED LOOPS of an origin ---- */

#define HERE(buffer) own->slots.buffer + slot * own->bytes, 1, own->type
#define AT TARGET, own->begin + slot * own->bytes
#define OPERATOR own->slots.reduction->handle, own->window.handle

INLINE void issue_accumulate(const struct operators *own, long long slot)
{
    CHECKED(MPI_Accumulate(HERE(sent), AT, 1, own->type, OPERATOR));
}

INLINE void issue_get_accumulate(const struct operators *own, long long slot)
{
    CHECKED(MPI_Get_accumulate(HERE(sent), HERE(result), AT, 1, own->type, OPERATOR));
}

INLINE void issue_fetch_and_op(const struct operators *own, long long slot)
{
    CHECKED(MPI_Fetch_and_op(own->slots.sent + slot * own->bytes,
                             own->slots.result + slot * own->bytes, own->type, AT, OPERATOR));
}

INLINE void loop(const struct operators *own, long long burst, enum calls calls,
                 void (*issue)(const struct operators *, long long))
{
    for (long long slot = 0; slot < burst; slot++) {
        begin_epoch(&own->epoch, calls, false);
        issue(own, slot);
        complete_epoch(&own->epoch, calls);
    }
}

#define LOOP(name, issue)                                                                          \
    static void name(const struct operators *own, long long burst)                                 \
    {                                                                                              \
        if (own->promise->forbids_locks) {                                                         \
            loop(own, burst, START_COMPLETE, issue);                                               \
        } else {                                                                                   \
            loop(own, burst, NOTHING_FLUSH, issue);                                                \
        }                                                                                          \
    }
LOOP(accumulate, issue_accumulate)
LOOP(get_accumulate, issue_get_accumulate)
LOOP(fetch_and_op, issue_fetch_and_op)

/* ---- Axes ---- */

static const struct call calls[] = {
    {"accumulate", false, false, accumulate},
    {"get_accumulate", true, false, get_accumulate},
    {"fetch_and_op", true, true, fetch_and_op},
};

static const struct named_operator operators[] = {{"sum", SUM},         {"prod", PROD},
                                                  {"max", MAX},         {"band", BAND},
                                                  {"replace", REPLACE}, {"no_op", NO_OP}};

/* A key that is not given has MPI's own value: same_op_no_op, all four orders, locks. */
static const struct promise promises[] = {
    {"no_key", NULL, NULL, false},
    {"same_op", "accumulate_ops", "same_op", false},
    {"same_op_no_op", "accumulate_ops", "same_op_no_op", false},
    {"no_ordering", "accumulate_ordering", "none", false},
    {"no_locks", "no_locks", "true", true},
};

static const struct axis axes[] = {
    {.name = "operation",
     .help = "what an origin does to the target's window",
     .kind = AXIS_CHOICE,
     .fallback = "accumulate,get_accumulate,fetch_and_op",
     .choices = TABLE(calls)},
    {.name = "operator",
     .help = "by which MPI_Op",
     .kind = AXIS_CHOICE,
     .fallback = "sum",
     .choices = TABLE(operators)},
    {.name = "element",
     .help = "on what; struct: two doubles with a gap after each",
     .kind = AXIS_CHOICE,
     .fallback = "int64",
     .choices = TABLE(operands)},
    {.name = "promise",
     .help = "what the window's info promises",
     .kind = AXIS_CHOICE,
     .fallback = "no_key",
     .choices = TABLE(promises)},
    FLAVOR_AXIS("allocate"),
    IDLE_OR_COMPUTES_AXIS,
};

static const struct option options[] = {TRIAL_OPTIONS("100", "20", "0.05"), MEETING_OPTIONS};

/* ---- A cell ---- */

/* pscw: the target's peers are all origins, an origin's the target. */
static MPI_Group make_peers(const struct operators *own)
{
    const int target[] = {TARGET};
    MPI_Group all, peers;
    CHECKED(MPI_Comm_group(world_communicator, &all));
    if (own->is_target) {
        CHECKED(MPI_Group_excl(all, 1, target, &peers));
    } else {
        CHECKED(MPI_Group_incl(all, 1, target, &peers));
    }
    CHECKED(MPI_Group_free(&all));
    return peers;
}

static void open_window(struct operators *own, const struct flavor *flavor)
{
    struct slots *slots = &own->slots;
    const MPI_Aint region_bytes = (MPI_Aint)slots->count * own->bytes;
    const MPI_Aint window_bytes = slots->origins * region_bytes;
    MPI_Info info = MPI_INFO_NULL;
    watchdog_phase = "window";
    if (own->promise->key != NULL) {
        CHECKED(MPI_Info_create(&info));
        CHECKED(MPI_Info_set(info, own->promise->key, own->promise->value));
    }
    own->window = window_open_with(slots->launch, flavor, own->is_target ? window_bytes : 0, info);
    if (info != MPI_INFO_NULL) {
        CHECKED(MPI_Info_free(&info));
    }
    own->type = operand_make_type(slots->operand);
    own->begin = own->window.begins[TARGET] + (slots->launch->rank - 1) * region_bytes;
    own->epoch = (struct epoch){.synchronisation = synchronisation_named(
                                    own->promise->forbids_locks ? "pscw" : "lock_all_flush"),
                                .window = own->window.handle,
                                .target = TARGET,
                                .peers = make_peers(own)};
    CHECKED(MPI_Barrier(world_communicator));
    own->epoch.synchronisation->enter(&own->epoch);
    own->window.is_locked = !own->promise->forbids_locks;
}

static void close_window(struct operators *own)
{
    watchdog_phase = "window";
    own->epoch.synchronisation->leave(&own->epoch);
    own->window.is_locked = false;
    window_close(&own->window);
    operand_free_type(own->slots.operand, &own->type);
    CHECKED(MPI_Group_free(&own->epoch.peers));
}

/* The target's memory is its own in an epoch that locks it; without locks between MPI_Win_wait and
 * MPI_Win_post. */
static char *begin_own(struct operators *own)
{
    if (own->is_target && !own->promise->forbids_locks) {
        window_begin_own(&own->window, MPI_LOCK_SHARED);
    }
    return own->is_target ? own->window.memory : NULL;
}

static void end_own(struct operators *own)
{
    if (own->is_target && !own->promise->forbids_locks) {
        window_end_own(&own->window);
    }
}

static void prepare(void *state, long long burst)
{
    struct operators *own = state;
    slots_renew(&own->slots, burst, begin_own(own));
    end_own(own);
    if (own->is_target) {
        own->epoch.synchronisation->target_open(&own->epoch);
    }
}

static double go(void *state, long long burst)
{
    struct operators *own = state;
    double passed_s = 0;
    if (!own->is_target) {
        const double begin_s = clock_now_s();
        own->call->go(own, burst);
        passed_s = launch_passed_s(own->slots.launch, own->slots.cell, begin_s);
    }
    return passed_s;
}

static void check(void *state, long long burst)
{
    struct operators *own = state;
    if (own->is_target) {
        own->epoch.synchronisation->target_close(&own->epoch);
    }
    slots_check(&own->slots, burst, begin_own(own));
    end_own(own);
}

/* Why the standard, or this program, has no such cell; NULL if it has. */
static const char *contradiction(const struct operators *own, bool computes)
{
    const struct slots *slots = &own->slots;
    const enum operation operation = slots->reduction->operation;
    if (!is_allowed(slots->element, operation)) {
        return "MPI has no such operator for this datatype";
    }
    if (operation == NO_OP && !own->call->fetches) {
        return "MPI_NO_OP belongs to operations that fetch";
    }
    if (own->call->one_element && slots->operand->parts > 1) {
        return "the operation takes one element of a predefined datatype";
    }
    if (own->promise->forbids_locks && !own->call->fetches) {
        return "without locks its epoch ends when it is complete at the origin, which tells "
               "nothing of the target";
    }
    if (own->promise->forbids_locks && !computes) {
        return "without locks each access of a burst would wait for the target's MPI_Win_post";
    }
    return NULL;
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct target_state *state = cell_choice(cell, "target_state");
    const struct flavor *flavor = cell_choice(cell, "flavor");
    const struct named_operator *named = cell_choice(cell, "operator");
    struct operators own = {.call = cell_choice(cell, "operation"),
                            .promise = cell_choice(cell, "promise"),
                            .is_target = launch->rank == TARGET};
    struct slots *slots = &own.slots;
    *slots = (struct slots){.launch = launch,
                            .cell = cell,
                            .operand = cell_choice(cell, "element"),
                            .reduction = &reductions[named->operation],
                            .fetches = own.call->fetches,
                            .count = (int)options_integer(&launch->options, "burst"),
                            .origins = launch->ranks - 1};
    slots->element = element_of(slots->operand);
    own.bytes = operand_bytes(slots->operand);
    const char *reason = contradiction(&own, state->computes);
    if (reason != NULL) {
        record_status(record, CELL_UNSUPPORTED, "%s", reason);
        return;
    }
    if ((state->computes && !meeting_is_supported(launch, record)) ||
        !window_is_supported(launch, flavor, record)) {
        return;
    }
    slots_allocate(slots);
    open_window(&own, flavor);
    record_window(record, own.window.handle, flavor->name,
                  (long long)slots->origins * slots->count * own.bytes);
    const struct trial trial = {.launch = launch,
                                .cell = cell,
                                .record = record,
                                .state = &own,
                                .longest = slots->count,
                                .prepare = prepare,
                                .go = go,
                                .check = check,
                                .time = "time",
                                .meets = state->computes,
                                .part = own.is_target ? COMPUTES : ACCESSES};
    trial_run(&trial);
    record_verification(record, slots->at_target);
    if (slots->fetches) {
        record_verification(record, slots->at_origin);
    }
    close_window(&own);
    slots_free(slots);
}

KERNEL("operators", "does an accumulate's operator decide whether it waits for its target?",
       .run_cell = run_cell)
