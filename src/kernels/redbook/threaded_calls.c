/* Threaded calls: how many messages per second do several threads send, each its own stream?
 *
 * Source: Marcelo Barrios, Stefan Andersson, Gyan Bhanot, John Hague, Frank Johnston, Swamy
 * Kandadai, David Klepacki, John Levesque, Jarek Nieplocha, Frank O'Connell, Farid Parpia,
 * Christoph Pospiech, Richard Treumann, Jim Tuccillo, Bob Walkup, "Scientific Applications in
 * RS/6000 SP Environments" (IBM, SG24-5611-00, 1999), section 5.1.5: calls of MPI by several
 * threads may have no advantage if messages go both ways, and may have an advantage if messages go
 * one way; each thread should have a communicator of its own, on which all tasks make collective
 * calls in one order. Also: how much a thread-safe library slows one thread (--thread-level),
 * windows, and as many pairs of processes.
 *
 * A stream has messages that nobody answers, and its rate is measured. The kernel adapter_sharing
 * measures the latency of messages that are answered. Timed, in seconds: from the common start of
 * all streams to the end of the last stream, divided by the messages of one stream in one
 * direction; the slowest rank counts. Verified: every element of every message. */
#include "slots/pairs.h"

#define OUTSTANDING_MAX 256

/* What the streams of threads share. */
struct arrangement {
    const char *name;
    bool threads; /* a stream has one thread of rank 0 and one of rank 1; else two ranks */
    bool apart;   /* each thread has a communicator, or a window, of its own */
};

static const struct arrangement arrangements[] = {
    {"one_for_all", true, false}, {"one_each", true, true}, {"processes", false, false}};

struct direction {
    const char *name;
    bool both;
};

static const struct direction directions[] = {{"one_way", false}, {"both_ways", true}};

static int outstanding; /* at most so many messages of a stream are under way */

/* ---- THE TIMED LOOPS, of one lane ---- */

static void send_each(const struct exchange *exchange, int lane, int passes)
{
    const struct part *own = on_lane(&exchange->sends, lane);
    const struct part *other = on_lane(&exchange->receives, lane);
    for (int pass = 0; pass < passes; pass++) {
        if (own != NULL && other != NULL) {
            CHECKED(MPI_Sendrecv(source_of(exchange, own, pass), own->elements, MPI_INT64_T,
                                 own->peer, lane, destination_of(exchange, other, pass),
                                 other->elements, MPI_INT64_T, other->peer, lane,
                                 exchange->lane[lane].communicator, MPI_STATUS_IGNORE));
        } else if (own != NULL) {
            send(exchange, own, pass);
        } else {
            receive(exchange, other, pass);
        }
    }
}

static void send_several(const struct exchange *exchange, int lane, int passes)
{
    const struct part *own = on_lane(&exchange->sends, lane);
    const struct part *other = on_lane(&exchange->receives, lane);
    MPI_Request requests[2 * OUTSTANDING_MAX];
    MPI_Status statuses[2 * OUTSTANDING_MAX];
    for (int first = 0; first < passes; first += outstanding) {
        const int left = passes - first;
        const int end = first + (left < outstanding ? left : outstanding);
        int count = 0;
        for (int pass = first; other != NULL && pass < end; pass++) {
            receive_later(exchange, other, pass, &requests[count++]);
        }
        for (int pass = first; own != NULL && pass < end; pass++) {
            send_later(exchange, own, pass, &requests[count++]);
        }
        CHECKED(MPI_Waitall(count, requests, statuses));
    }
}

static void put_and_flush(const struct exchange *exchange, int lane, int passes)
{
    const struct part *own = on_lane(&exchange->sends, lane);
    for (int pass = 0; own != NULL && pass < passes; pass++) {
        put(exchange, own, pass);
        CHECKED(MPI_Win_flush(own->peer, exchange->lane[lane].window->handle));
    }
}

/* If both ranks send, rank 0 is the first root: a communicator needs one order at both ranks. */
static void broadcast_each(const struct exchange *exchange, int lane, int passes)
{
    const struct part *own = on_lane(&exchange->sends, lane);
    const struct part *other = on_lane(&exchange->receives, lane);
    for (int pass = 0; pass < passes; pass++) {
        for (int root = 0; root < 2; root++) {
            const bool is_root = root == exchange->rank;
            const struct part *part = is_root ? own : other;
            if (part != NULL) {
                int64_t *message = is_root ? source_of(exchange, part, pass)
                                           : destination_of(exchange, part, pass);
                CHECKED_OF_THREADS(MPI_Bcast(message, part->elements, MPI_INT64_T, root,
                                             exchange->lane[lane].communicator));
            }
        }
    }
}

/* ---- All lanes of this rank ---- */

static void go_send(const struct exchange *exchange, int passes)
{
    pairs_go(exchange, passes, send_each);
}

static void go_isend(const struct exchange *exchange, int passes)
{
    pairs_go(exchange, passes, send_several);
}

static void go_put(const struct exchange *exchange, int passes)
{
    pairs_go(exchange, passes, put_and_flush);
}

static void go_bcast(const struct exchange *exchange, int passes)
{
    pairs_go(exchange, passes, broadcast_each);
}

static const struct interface interfaces[] = {
    {"send", NO_WINDOW, go_send},
    {"isend", NO_WINDOW, go_isend},
    {"put", LOCK_ALL, go_put},
    {"bcast", NO_WINDOW, go_bcast},
};

static const struct axis axes[] = {
    INTERFACE_AXIS("send,isend,put"),
    CHOICE_AXIS_ONLY_WITH("flavor", "where the memory of windows comes from", "allocate", flavors,
                          "interface=put"),
    CHOICE_AXIS("direction", "messages go from rank 0 to rank 1, or both ways at once",
                "one_way,both_ways", directions),
    CHOICE_AXIS("arrangement",
                "streams of threads with one communicator, in which each has a tag, or with one "
                "window; with one each; or streams of processes",
                "one_each,processes", arrangements),
    INTEGER_AXIS("streams", "at once", "1", 1, TEAM_MAX),
    MESSAGE_BYTES_AXIS("message", "8", 1 << 24),
};

static const struct option options[] = {
    EXCHANGE_OPTIONS,
    {"outstanding", "N", "messages of a stream under way at once (isend)", OPTION_INTEGER, "64", 1,
     OUTSTANDING_MAX},
};

static bool describe(struct exchange *exchange)
{
    const struct direction *direction = cell_choice(exchange->cell, "direction");
    return pairs_describe(exchange, direction->both);
}

static const struct kind kind = {.describe = describe, .sequel = 1};

/* Two collective calls at once need two communicators with the two ranks of a stream. */
static bool is_supported(const struct launch *launch, const struct interface *interface,
                         const struct pairs *pairs, struct record *record)
{
    if (interface->go != go_bcast || (launch->ranks == 2 && (pairs->count == 1 || pairs->apart))) {
        return true;
    }
    record_status(record, CELL_UNSUPPORTED,
                  "a broadcast needs two ranks and a communicator for each stream: found %d ranks, "
                  "%d streams%s",
                  launch->ranks, pairs->count, pairs->apart ? "" : " with one for all");
    return false;
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct arrangement *arrangement = cell_choice(cell, "arrangement");
    const struct direction *direction = cell_choice(cell, "direction");
    const struct interface *interface = cell_choice(cell, "interface");
    outstanding = (int)options_integer(&launch->options, "outstanding");
    const struct pairs pairs = {.count = (int)cell_number(cell, "streams"),
                                .threads = arrangement->threads,
                                .apart = arrangement->apart,
                                .second_waits = interface->epochs == LOCK_ALL && !direction->both};
    if (is_supported(launch, interface, &pairs, record)) {
        pairs_run(launch, cell, record, &kind, pairs);
    }
}

KERNEL("threaded_calls", "time of a message in streams that several threads send at once",
       .run_cell = run_cell)
