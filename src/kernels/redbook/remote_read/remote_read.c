/* Remote read: how long does a rank take to read from, or write to, a file that another rank has?
 *
 * Source: Marcelo Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM
 * SG24-5611, 1999), section 3.5.3.3 with Figure 25: an active message asks for a part of a file;
 * its handler reads this part into a buffer, puts it into the memory of the origin, and increments
 * a counter of the origin. Here rank 1 asks, and a server answers, by MPI_Put and a notice or by
 * MPI_Send. The server is a thread of rank 0, or rank 0 itself. For comparison rank 1 reads the
 * file itself. In a write the server gets the data from the memory of rank 1, or the data come with
 * the request; the server writes them, and answers. Timed, in seconds, at rank 1: from the request
 * until the data, or the answer to a write, are in its memory. Warm: the file is in the page cache.
 * Cold: before each operation the rank that reads removes the file from the page cache, untimed.
 * Verified: every element of every operation, after a write in the file; the answers to invalid
 * requests. */
#include "mpi/trial.h"
#include "redbook/remote_read/distant.h"

struct way {
    const char *name;
    bool asks;
    bool has_window; /* the server puts the data into a window, or gets them from it */
    bool writes;
    void (*once)(struct distant *own, long long slot);
};

/* ---- The timed part of one operation ---- */

static void read_here(struct distant *own, long long slot)
{
    char *const answer = answer_in(own, slot);
    const struct wanted *wanted = &own->wanted[slot];
    const int error =
        storage_read(own->descriptor, answer + CODE_BYTES, wanted->bytes, wanted->offset);
    *(int64_t *)answer = error == 0 ? wanted->bytes : -error;
}

static void write_here(struct distant *own, long long slot)
{
    char *const answer = answer_in(own, slot);
    const struct wanted *wanted = &own->wanted[slot];
    const int error =
        storage_write(own->descriptor, answer + CODE_BYTES, wanted->bytes, wanted->offset);
    *(int64_t *)answer = error == 0 ? wanted->bytes : -error;
}

/* With the window: the server puts or gets the data, and gives a notice. */
static void ask_for_notice(struct distant *own, long long slot)
{
    own->wanted[slot].turn = ++own->turn;
    server_ask(&own->server, 0, &own->wanted[slot], sizeof own->wanted[slot], NULL, 0);
    notice_await(&own->notice, own->turn);
}

static void ask_for_message(struct distant *own, long long slot)
{
    server_ask(&own->server, 0, &own->wanted[slot], sizeof own->wanted[slot], NULL, 0);
    server_await(&own->server, answer_in(own, slot), (size_t)own->slot_bytes);
}

static void send_to_write(struct distant *own, long long slot)
{
    char *const answer = answer_in(own, slot);
    server_ask(&own->server, 0, &own->wanted[slot], sizeof own->wanted[slot], answer + CODE_BYTES,
               (size_t)own->bytes);
    server_await(&own->server, answer, (size_t)CODE_BYTES);
}

static const struct way ways[] = {{"local", false, false, false, read_here},
                                  {"put_back", true, true, false, ask_for_notice},
                                  {"send_back", true, false, false, ask_for_message},
                                  {"local_write", false, false, true, write_here},
                                  {"get_and_write", true, true, true, ask_for_notice},
                                  {"send_and_write", true, false, true, send_to_write}};
static const struct where {
    const char *name;
    bool is_thread;
} wheres[] = {{"thread", true}, {"process", false}};
static const struct cache {
    const char *name;
    bool is_cold;
} caches[] = {{"warm", false}, {"cold", true}};

static const struct axis axes[] = {
    CHOICE_AXIS(
        "way",
        "rank 1 reads or writes the file itself, or the server does: the data are put or got, "
        "or sent",
        "local,put_back,send_back,local_write,get_and_write,send_and_write", ways),
    CHOICE_AXIS_ONLY_WITH("server", "a second thread of rank 0, or rank 0 itself", "thread,process",
                          wheres, "way=put_back,send_back,get_and_write,send_and_write"),
    STORAGE_AXIS("disk"),
    CHOICE_AXIS_ONLY_WITH("cache", "whether the file is in the page cache", "warm,cold", caches,
                          "way=local,put_back,send_back"),
    INTEGER_AXIS("size_bytes", "of a read or write, a multiple of 8", "4096", 8, 1 << 26),
};

static const struct option options[] = {TRIAL_OPTIONS("50", "10", "0.05"), STORAGE_OPTIONS};

/* ---- A sample ---- */

/* THE TIMED LOOP, of the client. */
static double go_client(struct distant *own, long long burst)
{
    const double begin_s = clock_now_s();
    for (long long slot = 0; slot < burst; slot++) {
        own->way->once(own, slot);
    }
    return clock_now_s() - begin_s;
}

/* If the server is no thread, rank 0 serves until all other ranks have released it. */
static void serve_if_asked(struct distant *own)
{
    if (own->way->asks && !own->is_thread) {
        if (own->launch->rank == HOME) {
            server_serve(&own->server);
        } else {
            server_release(&own->server);
        }
    }
}

static double go(void *state, long long burst)
{
    struct distant *own = state;
    const double passed_s = own->launch->rank == CLIENT ? go_client(own, burst) : 0;
    serve_if_asked(own);
    return passed_s;
}

static void prepare(void *state, long long burst)
{
    struct distant *own = state;
    if (own->launch->rank == CLIENT || own->launch->rank == own->reader) {
        distant_choose(own, burst);
    }
    distant_set_cache(own);
}

static void check(void *state, long long burst)
{
    struct distant *own = state;
    if (own->launch->rank == CLIENT) {
        distant_compare(own, burst);
    }
    if (own->writes && own->launch->rank == own->reader) {
        distant_compare_file(own, burst);
    }
}

static void keep(void *state, long long burst)
{
    struct distant *own = state;
    if (own->descriptor >= 0 && !own->writes) {
        series_keep(own->record, &own->residents, "resident", "1", burst, own->resident);
    }
}

/* Requests that the server must refuse. */
static void ask_wrongly(struct distant *own)
{
    const bool looks = own->writes && own->launch->rank == HOME;
    const int64_t before = looks ? distant_sum_of_file(own) : 0;
    world_barrier();
    if (own->launch->rank == CLIENT) {
        distant_ask_wrongly(own, own->way->once);
    }
    serve_if_asked(own);
    world_barrier();
    if (looks) {
        verify_element(&own->refused, distant_sum_of_file(own), before, 0, 0);
    }
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct way *way = cell_choice(cell, "way");
    const struct where *where = cell_choice(cell, "server");
    const struct cache *cache = cell_choice(cell, "cache");
    struct distant own = {.launch = launch,
                          .cell = cell,
                          .record = record,
                          .way = way,
                          .is_thread = where != NULL && where->is_thread,
                          .is_cold = cache != NULL && cache->is_cold,
                          .writes = way->writes,
                          .bytes = (long long)cell_number(cell, "size_bytes"),
                          .reader = way->asks ? HOME : CLIENT};
    if (!distant_open(&own, way->asks, way->has_window)) {
        return;
    }
    const struct trial trial = {.launch = launch,
                                .cell = cell,
                                .record = record,
                                .state = &own,
                                .longest = own.is_cold ? 1 : own.slots,
                                .prepare = prepare,
                                .go = go,
                                .check = check,
                                .time = "time",
                                .keep = keep};
    trial_run(&trial);
    if (way->asks) {
        ask_wrongly(&own);
    }
    distant_close(&own, way->asks, way->has_window);
}

KERNEL("remote_read", "time of a read from, or a write to, a file that another rank has",
       .run_cell = run_cell)
