/* Completion of a put: when does its origin know that it is complete, and how long does this take?
 *
 * Source: Marcelo Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM
 * SG24-5611, 1999), sections 3.5.1.5 and 3.5.2.2 with Table 18 and Figure 22: LAPI has separate
 * counters for three moments: the origin's data can be modified, the data have reached their
 * destination, and the operation is complete at both sides. In MPI: the return of the call;
 * MPI_Win_flush_local, or MPI_Rput and MPI_Wait; MPI_Win_flush; a notice to the target, which
 * echoes the notice, so that one clock is enough. Also: one flush for all puts of a burst; messages
 * with and without a reply. Timed, in seconds: a put and the wait for its completion, as the mean
 * of a burst; a single put while rank 0 computes. Puts that are still open after the burst are
 * completed untimed. Verified: every element put. */
#include "redbook/completion/target.h"
#include "rma/computing.h"

/* ---- THE TIMED LOOPS ---- */

static void go_call(const struct completion *own, long long burst)
{
    for (long long slot = 0; slot < burst; slot++) {
        put_slot(&own->slots, slot);
    }
}

static void go_flush_local(const struct completion *own, long long burst)
{
    for (long long slot = 0; slot < burst; slot++) {
        put_slot(&own->slots, slot);
        CHECKED(MPI_Win_flush_local(TARGET, own->slots.transfer.epoch.window));
    }
}

static void go_request(const struct completion *own, long long burst)
{
    for (long long slot = 0; slot < burst; slot++) {
        rput_slot(&own->slots, slot);
    }
}

static void go_flush(const struct completion *own, long long burst)
{
    for (long long slot = 0; slot < burst; slot++) {
        put_slot(&own->slots, slot);
        CHECKED(MPI_Win_flush(TARGET, own->slots.transfer.epoch.window));
    }
}

static void go_one_flush(const struct completion *own, long long burst)
{
    go_call(own, burst);
    CHECKED(MPI_Win_flush(TARGET, own->slots.transfer.epoch.window));
}

INLINE void notice_and_echo(const struct completion *own, long long burst, bool puts)
{
    const int rank = own->slots.launch->rank;
    const struct notice there = notice_of(own, TARGET, rank), here = notice_of(own, rank, rank);
    for (long long slot = 0; slot < burst; slot++) {
        if (puts) {
            put_slot(&own->slots, slot);
        }
        notice_give(&there, own->turn + (uint64_t)slot + 1); /* flushes before and after */
        notice_await(&here, own->turn + (uint64_t)slot + 1);
    }
}

static void go_notice(const struct completion *own, long long burst)
{
    notice_and_echo(own, burst, true);
}

static void go_echo(const struct completion *own, long long burst)
{
    notice_and_echo(own, burst, false);
}

INLINE void send_slots(const struct completion *own, long long burst, bool replied)
{
    const struct slots *slots = &own->slots;
    for (long long slot = 0; slot < burst; slot++) {
        CHECKED(MPI_Send(SLOT_HERE(payload), TARGET, 0, world_communicator));
        if (replied) {
            CHECKED(MPI_Recv(NULL, 0, MPI_BYTE, TARGET, 1, world_communicator, MPI_STATUS_IGNORE));
        }
    }
}

static void go_send(const struct completion *own, long long burst)
{
    send_slots(own, burst, false);
}

static void go_send_reply(const struct completion *own, long long burst)
{
    send_slots(own, burst, true);
}

static void flush_all(const struct completion *own, long long burst)
{
    (void)burst;
    CHECKED(MPI_Win_flush(TARGET, own->slots.transfer.epoch.window));
}

#define LOCALLY "call,flush_local,request,flush"
#define ONE_SIDED LOCALLY ",one_flush,notice,echo"
static const struct known ways[] = {
    {"call", go_call, NULL, flush_all},
    {"flush_local", go_flush_local, NULL, flush_all},
    {"request", go_request, NULL, flush_all},
    {"flush", go_flush, NULL, NULL},
    {"one_flush", go_one_flush, NULL, NULL},
    {"notice", go_notice, echo_notices, NULL},
    /* the data of a burst are put after it */
    {"echo", go_echo, echo_notices, go_one_flush},
    {"send", go_send, receive_all, NULL},
    {"send_reply", go_send_reply, receive_and_reply, NULL},
};

static const struct axis axes[] = {
    CHOICE_AXIS("known", "what an origin waits for", ONE_SIDED ",send,send_reply", ways),
    FLAVOR_ONLY_WITH_AXIS("allocate", "known=" ONE_SIDED),
    WRITE_BYTES_AXIS("8"),
    CHOICE_AXIS_ONLY_WITH("target_state", "what rank 0 does meanwhile", "idle,computes",
                          idle_or_computes, "known=" LOCALLY),
};

static const struct option options[] = {TRIAL_OPTIONS("100", "20", "0.05"), MEETING_OPTIONS};

static double go(void *state, long long burst)
{
    struct completion *own = state;
    struct slots *slots = &own->slots;
    double passed_s = 0;
    if (slots->launch->rank != TARGET) {
        const double begin_s = clock_now_s();
        own->known->go(own, burst);
        passed_s = clock_now_s() - begin_s;
        if (own->known->finish != NULL) {
            own->known->finish(own, burst);
        }
    } else if (own->known->accompany != NULL) {
        own->known->accompany(own, burst);
    }
    own->turn += (uint64_t)burst;
    return passed_s;
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    struct completion own = {.known = cell_choice(cell, "known")};
    struct slots *slots = &own.slots;
    const struct target_state *state = cell_choice(cell, "target_state");
    const bool computes = state != NULL && state->computes;
    *slots = slots_of(launch, cell, record);
    slots->flavor = cell_choice(cell, "flavor") == NULL ? &flavors[FLAVOR_ALLOCATE] : slots->flavor;
    slots->holds_lock_all = true;
    slots->more_bytes = (MPI_Aint)(launch->ranks - 1) * NOTICE_BYTES;
    slots->own_bytes = NOTICE_BYTES;
    if ((computes && !meeting_is_supported(launch, record)) || !slots_open(slots)) {
        return;
    }
    clear_notices(&own);
    struct trial trial = slots_trial(slots, "time", computes);
    trial.go = go;
    trial_run(&trial);
    slots_close(slots);
}

KERNEL("completion", "time until the origin of a put knows that it is complete, in some sense",
       .run_cell = run_cell)
