/* Latency and bandwidth: two processes send each other a message in turn.
 *
 * Source: Lawrence Livermore National Laboratory, "MPI Performance Measurements" (UCRL-WEB-218462,
 * 2006), LBW in its section "Algorithms": its synchronous style (MPI_Send, MPI_Recv) and its
 * asynchronous style (MPI_Irecv, MPI_Send, MPI_Wait). The synchronous style is also run with the
 * same buffer in all passes, as in the source. One-sided twins: a put with a notice, which is
 * answered by another put with a notice; a get of data that a notice has announced; a put and a get
 * under post and start. Timed, in seconds: half of a round trip, by rank 0. The source's bandwidth
 * is the message's size divided by this time. Verified: every element of every message. */
#include "slots/exchange.h"

#define FIRST 0 /* begins a pass; rank 1 answers, all other ranks have no part */
/* The message that a rank sends and the message that it receives, in the slots of a burst. */
struct ends {
    const int64_t *outgoing;
    int64_t *incoming;
    size_t stride; /* elements from a slot to the next one */
    int elements, peer;
};

static struct ends ends_of(const struct exchange *exchange)
{
    const struct part *own = exchange->sends.part;
    return (struct ends){.outgoing = outgoing(exchange, 0) + own->own,
                         .incoming = incoming(exchange, 0) + exchange->receives.part->own,
                         .stride = exchange->slot_elements,
                         .elements = own->elements,
                         .peer = own->peer};
}

INLINE void send_slot(struct ends ends, int pass)
{
    CHECKED(MPI_Send(ends.outgoing + (size_t)pass * ends.stride, ends.elements, MPI_INT64_T,
                     ends.peer, 0, world_communicator));
}

INLINE void receive_slot(struct ends ends, int pass)
{
    CHECKED(MPI_Recv(ends.incoming + (size_t)pass * ends.stride, ends.elements, MPI_INT64_T,
                     ends.peer, 0, world_communicator, MPI_STATUS_IGNORE));
}

/* ---- THE TIMED LOOPS; each rank has one message to send and one to receive ---- */

INLINE void send_in_turn(const struct exchange *exchange, struct ends ends, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        if (exchange->rank == FIRST) {
            send_slot(ends, pass);
            receive_slot(ends, pass);
        } else {
            receive_slot(ends, pass);
            send_slot(ends, pass);
        }
    }
}

static void go_synchronous(const struct exchange *exchange, int passes)
{
    if (takes_part(exchange)) {
        send_in_turn(exchange, ends_of(exchange), passes);
    }
}

/* All passes send the same buffer, and receive into the same buffer. */
static void go_synchronous_same(const struct exchange *exchange, int passes)
{
    if (takes_part(exchange)) {
        struct ends ends = ends_of(exchange);
        ends.stride = 0;
        send_in_turn(exchange, ends, passes);
    }
}

/* As in the source both ranks send at once: no rank waits for a message before it sends its own. */
static void go_asynchronous(const struct exchange *exchange, int passes)
{
    const struct part *own = exchange->sends.part, *other = exchange->receives.part;
    for (int pass = 0; pass < passes && takes_part(exchange); pass++) {
        MPI_Request request;
        receive_later(exchange, other, pass, &request);
        send(exchange, own, pass);
        CHECKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

static void go_put_notice(const struct exchange *exchange, int passes)
{
    const struct part *own = exchange->sends.part, *other = exchange->receives.part;
    for (int pass = 0; pass < passes && takes_part(exchange); pass++) {
        if (exchange->rank != FIRST) {
            hear(exchange, other->peer, pass);
        }
        put(exchange, own, pass);
        tell(exchange, own->peer, pass); /* flushes before and after */
        if (exchange->rank == FIRST) {
            hear(exchange, other->peer, pass);
        }
    }
}

static void go_get_notice(const struct exchange *exchange, int passes)
{
    const struct part *other = exchange->receives.part;
    for (int pass = 0; pass < passes && takes_part(exchange); pass++) {
        if (exchange->rank == FIRST) {
            tell(exchange, other->peer, pass);
        }
        hear(exchange, other->peer, pass);
        get(exchange, other, pass);
        CHECKED(MPI_Win_flush(other->peer, exchange->window.handle));
        if (exchange->rank != FIRST) {
            tell(exchange, other->peer, pass);
        }
    }
}

static void go_put_pscw(const struct exchange *exchange, int passes)
{
    const struct part *own = exchange->sends.part;
    for (int pass = 0; pass < passes && takes_part(exchange); pass++) {
        expose(exchange, &exchange->sources);
        if (exchange->rank != FIRST) {
            await_origins(exchange, &exchange->sources);
        }
        CHECKED(MPI_Win_start(exchange->destinations.group, 0, exchange->window.handle));
        put(exchange, own, pass);
        CHECKED(MPI_Win_complete(exchange->window.handle));
        if (exchange->rank == FIRST) {
            await_origins(exchange, &exchange->sources);
        }
    }
}

static void go_get_pscw(const struct exchange *exchange, int passes)
{
    const struct part *other = exchange->receives.part;
    for (int pass = 0; pass < passes && takes_part(exchange); pass++) {
        if (exchange->rank == FIRST) {
            expose(exchange, &exchange->destinations);
            await_origins(exchange, &exchange->destinations);
        }
        CHECKED(MPI_Win_start(exchange->sources.group, 0, exchange->window.handle));
        get(exchange, other, pass);
        CHECKED(MPI_Win_complete(exchange->window.handle));
        if (exchange->rank != FIRST) {
            expose(exchange, &exchange->destinations);
            await_origins(exchange, &exchange->destinations);
        }
    }
}

static const struct interface interfaces[] = {
    {"synchronous", NO_WINDOW, go_synchronous},
    {"asynchronous", NO_WINDOW, go_asynchronous},
    {"put_lock_all", LOCK_ALL, go_put_notice},
    {"put_pscw", PSCW, go_put_pscw},
    {"get_lock_all", LOCK_ALL, go_get_notice},
    {"get_pscw", PSCW, go_get_pscw},
    {"synchronous_same_buffers", SAME_SLOT, go_synchronous_same},
};

static const struct axis axes[] = {
    INTERFACE_AXIS("synchronous,asynchronous,put_lock_all,put_pscw,get_lock_all,get_pscw"),
    FLAVOR_OF_WINDOW_AXIS("put_lock_all,put_pscw,get_lock_all,get_pscw"),
    MESSAGE_BYTES_AXIS("message", "8,10000", 1 << 25),
};

static const struct option options[] = {EXCHANGE_OPTIONS};

static bool describe(struct exchange *exchange)
{
    const int elements = exchange_elements(exchange);
    if (elements > 0) {
        exchange_add(exchange, FIRST, 1, elements);
        exchange_add(exchange, 1, FIRST, elements);
    }
    return elements > 0;
}

static const struct kind kind = {.describe = describe, .first_counts = true, .sequel = 2};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    exchange_run(launch, cell, record, &kind);
}

KERNEL("latency_bandwidth", "time of a message between two processes, half of a round trip",
       .run_cell = run_cell)
