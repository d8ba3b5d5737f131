/* Adapter sharing: how long does a message take while other pairs exchange messages, too?
 *
 * Source: Marcelo Barrios, Stefan Andersson, Gyan Bhanot, John Hague, Frank Johnston, Swamy
 * Kandadai, David Klepacki, John Levesque, Jarek Nieplocha, Frank O'Connell, Farid Parpia,
 * Christoph Pospiech, Richard Treumann, Jim Tuccillo, Bob Walkup, "Scientific Applications in
 * RS/6000 SP Environments" (IBM, SG24-5611-00, 1999), section 6.1.3: with N processors at once the
 * latency of each is L(N) = L(1) + (N - 1) dL (6.1), the bandwidth of each B(N) = B(1) / N (6.2);
 * section 5.1.1: the tasks of a node share its adapter. Here k pairs of processes, or of threads of
 * two processes, send messages to and fro at once. Timed, in seconds: half of a round trip, until
 * the last pair has its answer. Verified: every element of every message. */
#include "slots/pairs.h"

struct arrangement {
    const char *name;
    bool threads; /* a pair is one thread of rank 0 and one of rank 1; else two ranks */
};

static const struct arrangement arrangements[] = {{"processes", false}, {"threads", true}};

static bool is_first(const struct exchange *exchange, int lane)
{
    return exchange->sends.part[lane].number < exchange->receives.part[lane].number;
}

/* ---- THE TIMED LOOPS, of one lane ---- */

static void send_and_receive(const struct exchange *exchange, int lane, int passes)
{
    const struct part *own = &exchange->sends.part[lane], *other = &exchange->receives.part[lane];
    const bool first = is_first(exchange, lane);
    for (int pass = 0; pass < passes; pass++) {
        if (first) {
            send(exchange, own, pass);
            receive(exchange, other, pass);
        } else {
            receive(exchange, other, pass);
            send(exchange, own, pass);
        }
    }
}

static void put_and_tell(const struct exchange *exchange, int lane, int passes)
{
    const struct part *own = &exchange->sends.part[lane], *other = &exchange->receives.part[lane];
    const bool first = is_first(exchange, lane);
    for (int pass = 0; pass < passes; pass++) {
        if (!first) {
            hear_on(exchange, lane, other->peer, pass);
        }
        put(exchange, own, pass);
        tell_on(exchange, lane, own->peer, pass); /* flushes before and after */
        if (first) {
            hear_on(exchange, lane, other->peer, pass);
        }
    }
}

/* ---- All lanes of this rank ---- */

static void go_synchronous(const struct exchange *exchange, int passes)
{
    pairs_go(exchange, passes, send_and_receive);
}

static void go_put_notice(const struct exchange *exchange, int passes)
{
    pairs_go(exchange, passes, put_and_tell);
}

static const struct interface interfaces[] = {
    {"synchronous", NO_WINDOW, go_synchronous},
    {"put_lock_all", LOCK_ALL, go_put_notice},
};

static const struct axis axes[] = {
    INTERFACE_AXIS("synchronous,put_lock_all"),
    FLAVOR_OF_WINDOW_AXIS("put_lock_all"),
    CHOICE_AXIS("arrangement", "pairs of processes, or of threads of two processes",
                "processes,threads", arrangements),
    INTEGER_AXIS("pairs", "that send messages at once", "1", 1, TEAM_MAX),
    MESSAGE_BYTES_AXIS("message", "8,65536", 1 << 24),
};

static const struct option options[] = {EXCHANGE_OPTIONS};

static bool describe(struct exchange *exchange)
{
    return pairs_describe(exchange, true);
}

static const struct kind kind = {.describe = describe, .sequel = 2};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct arrangement *arrangement = cell_choice(cell, "arrangement");
    pairs_run(
        launch, cell, record, &kind,
        (struct pairs){.count = (int)cell_number(cell, "pairs"), .threads = arrangement->threads});
}

KERNEL("adapter_sharing", "time of a message while other pairs send messages, too",
       .run_cell = run_cell)
