/* Two-way exchange: two processes send each other a message at once.
 *
 * Source: Marcelo Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM
 * SG24-5611, 1999), section 3.1.2 and its Figure 8: MPI_Isend, MPI_Recv, MPI_Wait; MPI_Irecv,
 * MPI_Send, MPI_Wait; MPI_Irecv, MPI_Barrier, MPI_Rsend, MPI_Wait; the source's other remedy,
 * MPI_Irecv, MPI_Ssend, MPI_Wait; and MPI_Sendrecv of section 5.3.1, Figures 43 and 44. One-sided
 * twins: both ranks put, between fences; under post and start; inside one lock_all with a flush and
 * a notice. Timed, in seconds: half of an exchange, as in section 5.3.1; the slowest rank counts.
 * The message's size divided by this time is the bandwidth of both directions together. With more
 * than two ranks each pair of neighbours exchanges messages. Verified: every element of every
 * message. */
#include "slots/exchange.h"

/* ---- THE TIMED LOOPS; a rank with a partner has one message to send and one to receive ---- */

static void go_isend_recv(const struct exchange *exchange, int passes)
{
    const struct part *own = exchange->sends.part, *other = exchange->receives.part;
    for (int pass = 0; pass < passes && takes_part(exchange); pass++) {
        MPI_Request request;
        CHECKED(MPI_Isend(outgoing(exchange, pass) + own->own, own->elements, MPI_INT64_T,
                          own->peer, 0, world_communicator, &request));
        receive(exchange, other, pass);
        CHECKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

static void go_irecv_send(const struct exchange *exchange, int passes)
{
    const struct part *own = exchange->sends.part, *other = exchange->receives.part;
    for (int pass = 0; pass < passes && takes_part(exchange); pass++) {
        MPI_Request request;
        receive_later(exchange, other, pass, &request);
        send(exchange, own, pass);
        CHECKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

/* No barrier is needed: each send itself waits until its receive is posted. */
static void go_irecv_ssend(const struct exchange *exchange, int passes)
{
    const struct part *own = exchange->sends.part, *other = exchange->receives.part;
    for (int pass = 0; pass < passes && takes_part(exchange); pass++) {
        MPI_Request request;
        receive_later(exchange, other, pass, &request);
        CHECKED(MPI_Ssend(outgoing(exchange, pass) + own->own, own->elements, MPI_INT64_T,
                          own->peer, 0, world_communicator));
        CHECKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

/* All ranks take part in the barrier: after it every receive is posted. */
static void go_ready_send(const struct exchange *exchange, int passes)
{
    const struct part *own = exchange->sends.part, *other = exchange->receives.part;
    for (int pass = 0; pass < passes; pass++) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (takes_part(exchange)) {
            receive_later(exchange, other, pass, &request);
        }
        CHECKED(MPI_Barrier(world_communicator));
        if (takes_part(exchange)) {
            CHECKED(MPI_Rsend(outgoing(exchange, pass) + own->own, own->elements, MPI_INT64_T,
                              own->peer, 0, world_communicator));
        }
        CHECKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

static void go_sendrecv(const struct exchange *exchange, int passes)
{
    const struct part *own = exchange->sends.part, *other = exchange->receives.part;
    for (int pass = 0; pass < passes && takes_part(exchange); pass++) {
        CHECKED(MPI_Sendrecv(outgoing(exchange, pass) + own->own, own->elements, MPI_INT64_T,
                             own->peer, 0, incoming(exchange, pass) + other->own, other->elements,
                             MPI_INT64_T, other->peer, 0, world_communicator, MPI_STATUS_IGNORE));
    }
}

static void go_put_fence(const struct exchange *exchange, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        if (takes_part(exchange)) {
            put(exchange, exchange->sends.part, pass);
        }
        fence(exchange, pass + 1 == passes);
    }
}

static void go_put_pscw(const struct exchange *exchange, int passes)
{
    for (int pass = 0; pass < passes && takes_part(exchange); pass++) {
        expose(exchange, &exchange->sources);
        CHECKED(MPI_Win_start(exchange->destinations.group, 0, exchange->window.handle));
        put(exchange, exchange->sends.part, pass);
        CHECKED(MPI_Win_complete(exchange->window.handle));
        await_origins(exchange, &exchange->sources);
    }
}

static void go_put_notice(const struct exchange *exchange, int passes)
{
    const struct part *own = exchange->sends.part, *other = exchange->receives.part;
    for (int pass = 0; pass < passes && takes_part(exchange); pass++) {
        put(exchange, own, pass);
        tell(exchange, own->peer, pass); /* flushes before and after */
        hear(exchange, other->peer, pass);
    }
}

static const struct interface interfaces[] = {
    {"isend_recv", NO_WINDOW, go_isend_recv}, {"irecv_send", NO_WINDOW, go_irecv_send},
    {"ready_send", NO_WINDOW, go_ready_send}, {"irecv_ssend", NO_WINDOW, go_irecv_ssend},
    {"sendrecv", NO_WINDOW, go_sendrecv},     {"put_fence", FENCE, go_put_fence},
    {"put_pscw", PSCW, go_put_pscw},          {"put_lock_all", LOCK_ALL, go_put_notice},
};

static const struct axis axes[] = {
    INTERFACE_AXIS("isend_recv,irecv_send,ready_send,irecv_ssend,sendrecv,put_fence,put_pscw,"
                   "put_lock_all"),
    FLAVOR_OF_WINDOW_AXIS("put_fence,put_pscw,put_lock_all"),
    MESSAGE_BYTES_OR_LIMIT_AXIS("message", "8,8192", 1 << 25),
};

static const struct option options[] = {EXCHANGE_OPTIONS, LIMIT_OPTIONS(1 << 24)};

static bool describe(struct exchange *exchange)
{
    const int elements = exchange_elements(exchange);
    for (int rank = 0; elements > 0 && rank < exchange->ranks; rank++) {
        const int partner = rank ^ 1;
        if (partner < exchange->ranks) {
            exchange_add(exchange, rank, partner, elements);
        }
    }
    return elements > 0;
}

/* An exchange is timed as a whole; half of it is the source's latency. */
static const struct kind kind = {.describe = describe, .sequel = 2};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    exchange_run(launch, cell, record, &kind);
}

KERNEL("two_way_exchange", "half of the time in which two processes exchange messages",
       .run_cell = run_cell)
