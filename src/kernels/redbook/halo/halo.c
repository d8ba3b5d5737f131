/* Halo: each rank gets the points around its block of a periodic grid from its neighbours.
 *
 * Source: Marcelo Barrios, Stefan Andersson, Gyan Bhanot, John Hague, Frank Johnston, Swamy
 * Kandadai, David Klepacki, John Levesque, Jarek Nieplocha, Frank O'Connell, Farid Parpia,
 * Christoph Pospiech, Richard Treumann, Jim Tuccillo, Bob Walkup, "Scientific Applications in
 * RS/6000 SP Environments" (IBM, SG24-5611-00, 1999), section 3.3.4: in ordered steps the messages
 * include the corners, so 4 messages are enough in place of 8, and in three dimensions 6 in place
 * of 26; section 5.1.6: tasks compared with tasks of several threads. Also a neighbourhood
 * collective, and puts. Timed, in seconds: a pass, which is an exchange, or an exchange and an
 * update by the threads of each rank; in the latter case also the exchange alone. The slowest rank
 * counts. Verified: all points of a block and all ghosts; the result of each update. */
#include "redbook/halo/halo.h"

#include <stdlib.h>

/* ---- THE TIMED LOOPS ---- */

static void go_sendrecv_steps(const struct exchange *exchange, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        int64_t *field = outgoing(exchange, pass);
        const double begin_s = begin_pass();
        for (int i = 0; i < halo.count; i++) {
            CHECKED(MPI_Sendrecv(field, 1, halo.sent[i], halo.to[i], i, field, 1, halo.filled[i],
                                 halo.from[i], i, world_communicator, MPI_STATUS_IGNORE));
        }
        end_pass(exchange, pass, begin_s);
    }
}

static void go_isend(const struct exchange *exchange, int passes)
{
    MPI_Request requests[2 * DIRECTIONS_MAX];
    MPI_Status statuses[2 * DIRECTIONS_MAX];
    for (int pass = 0; pass < passes; pass++) {
        int64_t *field = outgoing(exchange, pass);
        const double begin_s = begin_pass();
        for (int i = 0; i < halo.count; i++) {
            CHECKED(MPI_Irecv(field, 1, halo.filled[i], halo.from[i], i, world_communicator,
                              &requests[i]));
        }
        for (int i = 0; i < halo.count; i++) {
            CHECKED(MPI_Isend(field, 1, halo.sent[i], halo.to[i], i, world_communicator,
                              &requests[halo.count + i]));
        }
        CHECKED(MPI_Waitall(2 * halo.count, requests, statuses));
        end_pass(exchange, pass, begin_s);
    }
}

static void go_neighbor(const struct exchange *exchange, int passes)
{
    const MPI_Aint begins[DIRECTIONS_MAX] = {0};
    for (int pass = 0; pass < passes; pass++) {
        int64_t *field = outgoing(exchange, pass);
        const double begin_s = begin_pass();
        CHECKED(MPI_Neighbor_alltoallw(field, halo.ones, begins, halo.sent, field, halo.ones,
                                       begins, halo.filled, halo.graph));
        end_pass(exchange, pass, begin_s);
    }
}

static void go_put_fence(const struct exchange *exchange, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        const double begin_s = begin_pass();
        for (int i = 0; i < halo.count; i++) {
            put_block(exchange, i, pass);
        }
        fence(exchange, pass + 1 == passes);
        end_pass(exchange, pass, begin_s);
    }
}

static void go_put_pscw(const struct exchange *exchange, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        const double begin_s = begin_pass();
        expose(exchange, &exchange->sources);
        CHECKED(MPI_Win_start(exchange->destinations.group, 0, exchange->window.handle));
        for (int i = 0; i < halo.count; i++) {
            put_block(exchange, i, pass);
        }
        CHECKED(MPI_Win_complete(exchange->window.handle));
        await_origins(exchange, &exchange->sources);
        end_pass(exchange, pass, begin_s);
    }
}

static void go_put_notice(const struct exchange *exchange, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        const double begin_s = begin_pass();
        for (int i = 0; i < halo.count; i++) {
            put_block(exchange, i, pass);
        }
        tell_all(exchange, pass);
        hear_all(exchange, pass);
        end_pass(exchange, pass, begin_s);
    }
}

/* A step has two directions, which may lead to one rank. No other rank is a neighbour in two
 * steps. */
static void go_put_steps(const struct exchange *exchange, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        const double begin_s = begin_pass();
        for (int i = 0; i < halo.count; i += 2) {
            put_block(exchange, i, pass);
            put_block(exchange, i + 1, pass);
            tell(exchange, halo.to[i], pass);
            if (halo.to[i + 1] != halo.to[i]) {
                tell(exchange, halo.to[i + 1], pass);
            }
            hear(exchange, halo.from[i], pass);
            hear(exchange, halo.from[i + 1], pass);
        }
        end_pass(exchange, pass, begin_s);
    }
}

static const struct interface interfaces[] = {
    {"sendrecv_steps", NO_WINDOW, go_sendrecv_steps},
    {"isend", NO_WINDOW, go_isend},
    {"neighbor_alltoallw", NO_WINDOW, go_neighbor},
    {"put_fence", FENCE, go_put_fence},
    {"put_pscw", PSCW, go_put_pscw},
    {"put_lock_all", LOCK_ALL, go_put_notice},
    {"put_lock_all_steps", LOCK_ALL, go_put_steps},
};

struct work {
    const char *name;
    bool updates;
};

static const struct work works[] = {{"exchange", false}, {"update", true}};

#define WITH_WINDOW "put_fence,put_pscw,put_lock_all,put_lock_all_steps"

static const struct axis axes[] = {
    INTERFACE_AXIS("sendrecv_steps,isend,neighbor_alltoallw," WITH_WINDOW),
    FLAVOR_OF_WINDOW_AXIS(WITH_WINDOW),
    INTEGER_AXIS("dimensions", "of the grid", "2,3", 2, DIMENSIONS),
    INTEGER_AXIS("side", "points of the whole grid in each dimension", "16", 1, 8192),
    CHOICE_AXIS("work", "a pass is an exchange, or an exchange and an update of all points",
                "exchange,update", works),
    {.name = "threads",
     .help = "of a rank, which update its points; its main thread exchanges",
     .kind = AXIS_INTEGER,
     .fallback = "1",
     .minimum = 1,
     .maximum = TEAM_MAX,
     .only_with = "work=update"},
};

static const struct option options[] = {EXCHANGE_OPTIONS};

static const struct kind kind = {
    .describe = messages_describe, .sequel = 1, .contents = &points, .keep = messages_keep};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct work *work = cell_choice(cell, "work");
    const int threads = work->updates ? (int)cell_number(cell, "threads") : 1;
    halo = (struct halo){.updates = work->updates,
                         .graph = MPI_COMM_NULL,
                         .team = {.count = threads, .task = update_part}};
    if (!team_is_supported(launch, record, threads, THREAD_FUNNELED)) {
        return;
    }
    record->helper_threads = threads - 1;
    team_open(&halo.team);
    exchange_run(launch, cell, record, &kind);
    team_close(&halo.team);
    messages_free();
    free(halo.result);
}

KERNEL("halo", "time until each rank has the points around its block of a grid",
       .run_cell = run_cell, .runs_alone = true)
