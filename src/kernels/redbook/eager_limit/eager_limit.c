/* Eager limit: up to which size does a send return while no receive is posted?
 *
 * Source: Marcelo Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM
 * SG24-5611, 1999), section 3.1.2 and its Table 9: two processes call MPI_Send, then MPI_Recv;
 * above the limit they wait for each other for ever. Here no rank waits for ever, because rank 0
 * receives late. Rank 0 waits until it sees outside MPI that rank 1's call has returned, or until
 * --delay-ms is over, and only then receives. While it waits, rank 0 makes progress, as the
 * source's rank does in its own send, or makes no progress. A size that has not returned in any of
 * --tries is above the limit. The kernel tries the powers of two. If two neighbours differ, the
 * interval between them is halved until it is a byte long, so several limits would be found. After
 * the search for a limit of MPI_Send: how many sends of this size return one after another while no
 * receive is posted? This depends on the library's buffer for early messages (the source's
 * MP_BUFFER_MEM). One-sided twins: a put with MPI_Win_flush_local, after which the buffer may be
 * used again, and with MPI_Win_flush. MPI_Ssend, which may never return early, shows that the
 * kernel sees the difference. Recorded: each size, whether it returned, the unanswered messages,
 * and the limits that the library reports through MPI_T. Verified: every byte of every message. */
#include "mpi/eager_limit.h"
#include "mpi/checked.h"
#include "mpi/world.h"
#include "redbook/eager_limit/reported.h"
#include "redbook/eager_limit/unanswered.h"
#include "rma/window.h"

/* What rank 0 does until it receives. */
struct receiver {
    const char *name;
    bool is_in_mpi;
};

/* ---- THE CALLS THAT ARE WATCHED ---- */

static void send_synchronous(const struct late *late, long long size)
{
    CHECKED(MPI_Ssend(late->payload, (int)size, MPI_BYTE, RECEIVER, 0, world_communicator));
}

static void put(const struct late *late, long long size)
{
    const struct window *window = late->window->window;
    CHECKED(MPI_Put(late->payload, (int)size, MPI_BYTE, RECEIVER, window->begins[RECEIVER],
                    (int)size, MPI_BYTE, window->handle));
}

static void put_flush_local(const struct late *late, long long size)
{
    const struct window *window = late->window->window;
    put(late, size);
    CHECKED(MPI_Win_flush_local(RECEIVER, window->handle));
}

static void put_flush(const struct late *late, long long size)
{
    const struct window *window = late->window->window;
    put(late, size);
    CHECKED(MPI_Win_flush(RECEIVER, window->handle));
}

static const struct call calls[] = {
    {"send", false, send_standard},
    {"ssend", false, send_synchronous},
    {"put_flush_local", true, put_flush_local},
    {"put_flush", true, put_flush},
};
static const struct receiver receivers[] = {{"in_mpi", true}, {"outside", false}};

/* ---- The window's calls in place of a receive ---- */

static void begin_own(void *window)
{
    window_begin_own(window, MPI_LOCK_SHARED);
}

static void end_own(void *window)
{
    window_end_own(window);
}

static void complete(void *window)
{
    CHECKED(MPI_Win_flush(RECEIVER, ((const struct window *)window)->handle));
}

static void take(struct late *late, struct record *record)
{
    const bool is_send = late->call->once == send_standard;
    CHECKED(MPI_Barrier(world_communicator));
    if (late->launch->rank == RECEIVER) {
        late->sizes = record_series(record, "tried_bytes", "count", 1);
        late->returned = record_series(record, "returned", "flag", 1);
        const long long limit = late_search(late);
        series_add(record_series(record, "limit", "count", 1), (double)limit);
        if (is_send) {
            unanswered_receive(late, record, limit);
        }
        record_verification(record, late->found);
        reported_limits(record);
    } else if (late->launch->rank == SENDER) {
        const long long limit = late_search(late);
        if (is_send) {
            unanswered_send(late, limit);
        }
    }
    watchdog_phase = "wait";
    CHECKED(MPI_Barrier(world_communicator));
}

static const struct axis axes[] = {
    CHOICE_AXIS("call", "what rank 1 calls while rank 0 is outside MPI",
                "send,ssend,put_flush_local,put_flush", calls),
    CHOICE_AXIS("receiver", "whether rank 0 makes progress until it receives", "in_mpi,outside",
                receivers),
    FLAVOR_ONLY_WITH_AXIS("create,allocate", "call=put_flush_local,put_flush"),
};

static const struct option options[] = {LIMIT_OPTIONS(1 << 28), UNANSWERED_OPTIONS};

/* Puts go into a window that is open during the whole search. */
static void take_in_window(struct late *late, const struct flavor *flavor, struct record *record)
{
    const MPI_Aint bytes = (MPI_Aint)late_bytes(late->largest_bytes);
    int64_t *own = late->result;
    struct window window =
        window_open(late->launch, flavor, late->launch->rank == RECEIVER ? bytes : 0);
    const struct late_window calls_of_window = {
        .window = &window, .begin_own = begin_own, .end_own = end_own, .complete = complete};
    record_window(record, window.handle, flavor->name, bytes);
    late->window = &calls_of_window;
    late->result = window.memory;
    window_hold(&window);
    watchdog_phase = "operations";
    take(late, record);
    watchdog_phase = "window";
    window_close(&window);
    late->result = own;
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct flavor *flavor = cell_choice(cell, "flavor");
    const struct receiver *receiver = cell_choice(cell, "receiver");
    struct late late = {.call = cell_choice(cell, "call"),
                        .is_in_mpi = receiver->is_in_mpi,
                        .found = {.name = "message"}};
    watchdog_phase = "window";
    if (flavor != NULL && !window_is_supported(launch, flavor, record)) {
        return;
    }
    late_open(&late, launch);
    if (flavor != NULL) {
        take_in_window(&late, flavor, record);
    } else {
        watchdog_phase = "operations";
        take(&late, record);
    }
    watchdog_phase = "window";
    late_close(&late);
}

KERNEL("eager_limit", "up to which size a send returns while no receive is posted",
       .run_cell = run_cell)
