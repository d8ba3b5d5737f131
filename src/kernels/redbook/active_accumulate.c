/* Active accumulate: how long does D += S take, with D at another rank, and which rank adds?
 *
 * Source: Marcelo Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM
 * SG24-5611, 1999), section 3.5.3.1: an active message of LAPI brings S to the target, and a
 * handler there adds it. In MPI: MPI_Accumulate; a lock, MPI_Get, the sum and MPI_Put; a request
 * that rank 0 serves, or a second thread of rank 0, or a further rank that shares rank 0's memory.
 * All other ranks add to the same D. Timed, in seconds: an accumulate until its origin knows that
 * it is complete, as the mean of a burst; a single accumulate while rank 0 computes. Verified:
 * every element of D, which is the sum of all sent data, and the number of answered requests. */
#include "rma/computing.h"
#include "slots/served.h"

struct way {
    const char *name;
    enum serves serves;
    bool locks; /* a lock for each get and put of the sum; else all ranks hold a lock_all */
    void (*loop)(struct slots *slots, long long burst);
};

/* ---- THE TIMED LOOPS of an origin ---- */

static void go_accumulate(struct slots *slots, long long burst)
{
    for (long long slot = 0; slot < burst; slot++) {
        CHECKED(
            MPI_Accumulate(SLOT_HERE(payload), SLOT_THERE, MPI_SUM, slots->transfer.epoch.window));
        CHECKED(MPI_Win_flush(TARGET, slots->transfer.epoch.window));
    }
}

static void go_lock_get_put(struct slots *slots, long long burst)
{
    for (long long slot = 0; slot < burst; slot++) {
        const int64_t *payload = slots->transfer.payload + slot * slots->elements;
        int64_t *result = slots->transfer.result + slot * slots->elements;
        CHECKED(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, slots->transfer.epoch.window));
        get_slot(slots, slot);
        CHECKED(MPI_Win_flush(TARGET, slots->transfer.epoch.window));
        for (int i = 0; i < slots->elements; i++) {
            result[i] += payload[i];
        }
        CHECKED(MPI_Put(SLOT_HERE(result), SLOT_THERE, slots->transfer.epoch.window));
        CHECKED(MPI_Win_unlock(TARGET, slots->transfer.epoch.window));
    }
}

static void go_ask(struct slots *slots, long long burst)
{
    struct served *served = (struct served *)slots;
    const size_t bytes = (size_t)slots->elements * sizeof(int64_t);
    for (long long slot = 0; slot < burst; slot++) {
        server_ask(&served->server, 0, &slot, sizeof slot,
                   slots->transfer.payload + slot * slots->elements, bytes);
        server_await(&served->server, NULL, 0);
    }
}

/* ---- What a server does with a request ---- */

static void add(struct server *server, const struct request *request)
{
    const struct served *served = server->state;
    const int elements = served->slots.elements;
    const long long *slot = request->header;
    const int64_t *terms = request->payload;
    int64_t *sums = (int64_t *)served->memory + *slot * elements;
    CHECKED(MPI_Win_sync(served->slots.transfer.epoch.window));
    for (int i = 0; i < elements; i++) {
        sums[i] += terms[i];
    }
    CHECKED(MPI_Win_sync(served->slots.transfer.epoch.window));
    server_answer(server, request, NULL, 0);
}

#define ONE_SIDED "accumulate,lock_get_put"
static const struct way ways[] = {
    {"accumulate", NOBODY, false, go_accumulate},
    {"lock_get_put", NOBODY, true, go_lock_get_put},
    {"target_serves", TARGET_ITSELF, false, go_ask},
    {"server_thread", A_THREAD, false, go_ask},
    {"server_process", A_RANK, false, go_ask},
};

static const struct axis axes[] = {
    CHOICE_AXIS("way", "how a vector is added to one at rank 0",
                ONE_SIDED ",target_serves,server_thread,server_process", ways),
    FLAVOR_ONLY_WITH_AXIS("allocate", "way=" ONE_SIDED),
    WRITE_BYTES_AXIS("8"),
    IDLE_OR_COMPUTES_AXIS,
};

static const struct option options[] = {TRIAL_OPTIONS("100", "20", "0.05"), MEETING_OPTIONS};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct way *way = cell_choice(cell, "way");
    const struct target_state *state = cell_choice(cell, "target_state");
    struct served served = {.serves = way->serves, .answer = add};
    struct slots *slots = &served.slots;
    if (served_is_supported(launch, way->serves, state->computes, record)) {
        *slots = slots_of(launch, cell, record);
        slots->makes = operation_named("accumulate");
        slots->loop = way->loop;
        slots->is_common = true;
        slots->fetches = way->locks;
        slots->holds_lock_all = !way->locks;
        served_run(&served, state->computes);
    }
}

KERNEL("active_accumulate", "time of D += S with D at another rank, by who adds",
       .run_cell = run_cell)
