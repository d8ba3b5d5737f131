/* Round trips: how many round trips to the target does a call need?
 *
 * Source: own. If the delay of the wire makes a message's round trip longer by a time t, it makes a
 * call longer by a whole multiple of t, on every machine. MPI 4.1, sections 12.3 (operations) and
 * 12.5 (synchronisation), says which calls have to wait for the target's answer.
 *
 * Rank 1 accesses rank 0, which waits in MPI_Recv or computes for a set time. An access then either
 * completes during the compute, or waits for its end. If the target has a ghost process, rank 1 is
 * the ghost process, on the target's machine, and rank 2 makes the accesses. Other ranks only
 * belong to the window. Before each access, a message goes to rank 0 and back: rank 0 is then in
 * MPI, and the access can be compared with the message. Each access is one operation with its own
 * calls around it. The first access of a window is recorded separately: it may connect, register
 * memory, or wait for a lock that an earlier call has only requested.
 *
 * Timed, in seconds, at the rank that accesses: the message there and back (`message`); an access
 * (`access`) and its parts: the call that begins the epoch (`begin`), the operation's call
 * (`issue`), the wait for its request (`wait`), the call that completes it (`complete`); the time
 * from the end of the target's compute to the end of the access, or 0 if the access ended first
 * (`after`); once for each window, the first access (`first`), and the calls around all accesses
 * (`enter`, `leave`). Verified, with values that depend on the sample's number: the target's whole
 * window with its gaps, all that is fetched, and each message. */
#include <math.h>
#include <mpi.h>

#include "harness/cpus.h"
#include "harness/watchdog.h"
#include "mpi/checked.h"
#include "mpi/world.h"
#include "rma/ghost.h"
#include "wire/round_trips/experiment.h"

#define ORIGINS 1
#define GHOST 1

static const struct axis axes[] = {
    OPERATION_AXIS("what rank 1 does to the target's window",
                   "put,get,accumulate,get_accumulate,fetch_and_op,compare_and_swap"),
    FLAVOR_AXIS("create,allocate"),
    SYNCHRONISATION_AXIS("lock_exclusive,lock_all_flush"),
    INTEGER_AXIS("size_bytes", "size of the payload, a multiple of 8", "8", 8, 1 << 24),
    CHOICE_AXIS("target_state", "what the target does during an access", "idle", target_states),
    DELAY_US_AXIS,
};

static const struct option options[] = {
    {"accesses", "N", "number of accesses between two checks", OPTION_INTEGER, "6", 2, 1000},
    {"most-accesses", "N", "most accesses of a cell that another program disturbs", OPTION_INTEGER,
     "60", 2, SERIES_SAMPLES_MAX},
    {"most-s", "SECONDS", "most time of such a cell", OPTION_NUMBER, "1", 0, 3600},
    {"compute-ms", "MS", "how long a target computes", OPTION_NUMBER, "20", 0.001, 60000},
};

/* Return the transfer of one slot. */
static struct transfer transfer_of(const struct transfer *all, long long slot)
{
    struct transfer one = *all;
    one.displacement += slot * all->slot_bytes;
    one.payload += slot * all->elements;
    one.result += slot * all->elements;
    one.compared += slot * all->elements;
    return one;
}

/* At the origin. A compute is a fixed amount of work, so its time varies a little. If an access
 * waited for the compute, `settle` gets only the time after the compute. */
static void keep(struct experiment *experiment, const struct access *access, double message_s,
                 double end_s)
{
    struct record *record = experiment->slots.record;
    const double access_s = access->completed_s - access->begin_s;
    const double after_s = access->completed_s - end_s;
    const bool waited = experiment->state->computes && after_s > 0;
    const double looked_at_s = waited ? after_s : access_s;
    if (experiment->accesses++ == 0) {
        series_keep(record, &experiment->first, "first", "s", 1, access_s);
        return;
    }
    settle(experiment, looked_at_s, message_s);
    series_keep(record, &experiment->message, "message", "s", 1, message_s);
    series_keep(record, &experiment->access, "access", "s", 1, access_s);
    series_keep(record, &experiment->begin, "begin", "s", 1, access->begun_s - access->begin_s);
    series_keep(record, &experiment->issue, "issue", "s", 1, access->issued_s - access->begun_s);
    if (experiment->slots.makes->request_based) {
        series_keep(record, &experiment->wait, "wait", "s", 1, access->waited_s - access->issued_s);
    }
    series_keep(record, &experiment->complete, "complete", "s", 1,
                access->completed_s - access->waited_s);
    if (experiment->state->computes) {
        series_keep(record, &experiment->after, "after", "s", 1, fmax(0, after_s));
    }
}

/* All ranks. THE TIMED CALLS are those of the operation and of the synchronisation (rma/). */
static void access_slot(struct experiment *experiment, long long slot)
{
    const struct synchronisation *synchronisation = experiment->synchronisation;
    const struct epoch *epoch = &experiment->epoch;
    const bool collective = synchronisation->kind == COLLECTIVE_ACTIVE;
    const bool answers = experiment->is_target || (collective && !experiment->is_origin);
    if (experiment->is_origin) {
        synchronisation->open(epoch);
        rest(experiment);
        const double message_s = message_there_and_back(&experiment->messages);
        struct transfer one = transfer_of(&experiment->transfer, slot);
        const struct access access = experiment->slots.makes->access(&one, 1, true);
        synchronisation->finish(epoch);
        keep(experiment, &access, message_s, tell_end(experiment, access.completed_s));
    } else if (answers) {
        double end_s = 0;
        synchronisation->target_open(epoch);
        if (experiment->is_target) {
            message_there_and_back(&experiment->messages);
            end_s = stay(experiment);
        }
        synchronisation->target_close(epoch);
        if (experiment->is_target) {
            tell_end(experiment, end_s);
        }
    }
}

/* All ranks: accesses see what the target stored, and the target sees what accesses completed. */
static void pass_on(struct experiment *experiment)
{
    if (experiment->state->has_ghost) {
        ghost_pass_on(experiment->slots.window, experiment->slots.holder);
    }
}

/* All ranks: make `wanted` accesses, in bursts with at most one access for each slot. */
static void make_accesses(struct experiment *experiment, long long wanted)
{
    struct slots *slots = &experiment->slots;
    for (long long done = 0; done < wanted; done += slots->count) {
        const long long burst = wanted - done < slots->count ? wanted - done : slots->count;
        watchdog_phase = "prepare";
        slots_prepare(slots, burst);
        pass_on(experiment);
        CHECKED(MPI_Barrier(world_communicator));
        watchdog_phase = "access";
        for (long long slot = 0; slot < burst; slot++) {
            access_slot(experiment, slot);
        }
        CHECKED(MPI_Barrier(world_communicator));
        watchdog_phase = "check";
        pass_on(experiment);
        slots_check(slots, burst);
    }
}

/* At the origin: make a call that comes before or after all accesses. */
static void call_apart(struct experiment *experiment, const char *metric,
                       void (*call)(const struct epoch *epoch))
{
    const enum calls calls = experiment->synchronisation->calls;
    const double begin_s = clock_now_s();
    call(&experiment->epoch);
    if (calls == NOTHING_FLUSH || calls == NOTHING_FLUSH_LOCAL) {
        struct series *series = NULL;
        series_keep(experiment->slots.record, &series, metric, "s", 1, clock_now_s() - begin_s);
    }
}

/* For pscw: the peer of the target is the origin; the peer of the origin is the target. */
static MPI_Group peers_of(const struct experiment *experiment)
{
    const int peer = experiment->is_target ? experiment->messages.origin : TARGET;
    MPI_Group all, peers;
    CHECKED(MPI_Comm_group(world_communicator, &all));
    CHECKED(MPI_Group_incl(all, 1, &peer, &peers));
    CHECKED(MPI_Group_free(&all));
    return peers;
}

static void use_window(struct experiment *experiment)
{
    struct slots *slots = &experiment->slots;
    const struct options *asked = &slots->launch->options;
    const long long accesses = options_integer(asked, "accesses");
    const long long most = options_integer(asked, "most-accesses");
    MPI_Group peers = peers_of(experiment);
    experiment->epoch = (struct epoch){.synchronisation = experiment->synchronisation,
                                       .window = slots->window->handle,
                                       .target = slots->holder,
                                       .peers = peers};
    if (experiment->is_origin) {
        experiment->transfer = slots_transfer(slots, 0, experiment->epoch);
        call_apart(experiment, "enter", experiment->synchronisation->enter);
    }
    make_accesses(experiment, accesses);
    for (long long made = accesses; made < most && !is_settled(experiment); made += accesses) {
        /* the scheduler may have put both ranks on one core, and another program on the other */
        cpus_move_to(slots->launch->rank + (int)(made / accesses));
        make_accesses(experiment, accesses);
    }
    watchdog_phase = "end";
    if (experiment->is_origin) {
        call_apart(experiment, "leave", experiment->synchronisation->leave);
    }
    CHECKED(MPI_Barrier(world_communicator));
    CHECKED(MPI_Group_free(&peers));
}

/* All ranks: use the window; if the target's state has a helper thread, it runs meanwhile. */
static void use_window_helped(struct experiment *experiment)
{
    const struct helper_kind *kind = experiment->state->helper;
    struct record *record = experiment->slots.record;
    struct helper helper;
    if (kind != NULL) {
        record->helper_threads = experiment->is_target;
        helper_start_at(&helper, kind, world_communicator, TARGET);
    }
    use_window(experiment);
    if (kind != NULL && helper_stop(&helper)) {
        record_status(record, CELL_HELPER_RETURNED,
                      "the target's helper returned before it was released");
    }
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const long long accesses = options_integer(&launch->options, "accesses");
    const struct target_state *state = cell_choice(cell, "target_state");
    const int origin = state->has_ghost ? GHOST + 1 : TARGET + 1;
    struct experiment experiment = {
        .slots = slots_of_elements(launch, cell, record,
                                   cell_number(cell, "size_bytes") / sizeof(int64_t), accesses),
        .synchronisation = cell_choice(cell, "synchronisation"),
        .state = state,
        .messages = {.origin = origin,
                     .is_origin = launch->rank == origin,
                     .sent_back = {.name = "messages"}},
        .until_s = clock_now_s() + options_number(&launch->options, "most-s"),
        .is_target = launch->rank == TARGET,
        .is_origin = launch->rank == origin,
        .least_s = {INFINITY, INFINITY, INFINITY},
        .message_s = INFINITY};
    struct slots *slots = &experiment.slots;
    slots->makes = cell_choice(cell, "operation");
    slots->origins = ORIGINS;
    slots->begin = 0;
    slots->end = experiment.is_origin ? ORIGINS : 0;
    slots->holder = state->has_ghost ? GHOST : TARGET;
    if (is_supported(&experiment) && slots_open(slots)) {
        use_window_helped(&experiment);
        record_verification(record, experiment.messages.sent_back);
        slots_close(slots);
    }
}

KERNEL("round_trips", "how often does something go to the target and back in a call?",
       .run_cell = run_cell)
