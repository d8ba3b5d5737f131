/* Some-to-some: random pairs of ranks exchange messages of random sizes.
 *
 * Source: Lawrence Livermore National Laboratory, "MPI Performance Measurements" (UCRL-WEB-218462,
 * 2006), STS in its section "Algorithms": single-sided and double-sided; in the asynchronous style
 * all receives are posted, then all messages sent; in the synchronous style the pairs come one
 * after the other. One-sided twins, in which each source puts: under post and start, with the pairs
 * as groups; inside one lock_all, with a notice to each destination; between fences. The map of
 * pairs and sizes is drawn from --map-seed (llnl/shared/map.h); before a pass all ranks compare the
 * map's checksum, because a rank with another map would wait for messages that no rank sends.
 * Timed, in seconds: a pass; the slowest rank counts. Verified: map; every element of every
 * message. */
#include "llnl/shared/map.h"
#include "slots/exchange.h"

#define LARGEST_BYTES_MAX (1 << 24)

/* ---- THE TIMED LOOPS ---- */

/* The pairs one after the other, in the same order on all ranks. */
static void go_synchronous(const struct exchange *exchange, int passes)
{
    const struct parts *sends = &exchange->sends, *receives = &exchange->receives;
    for (int pass = 0; pass < passes; pass++) {
        int sent = 0, received = 0;
        while (sent < sends->count || received < receives->count) {
            if (received == receives->count ||
                (sent < sends->count &&
                 sends->part[sent].number < receives->part[received].number)) {
                send(exchange, &sends->part[sent++], pass);
            } else {
                receive(exchange, &receives->part[received++], pass);
            }
        }
    }
}

INLINE void exchange_messages(const struct exchange *exchange, int slot)
{
    const struct parts *sends = &exchange->sends, *receives = &exchange->receives;
    MPI_Request *requests = exchange->requests;
    for (int i = 0; i < receives->count; i++) {
        receive_later(exchange, &receives->part[i], slot, &requests[i]);
    }
    for (int i = 0; i < sends->count; i++) {
        send(exchange, &sends->part[i], slot);
    }
    CHECKED(MPI_Waitall(receives->count, requests, exchange->statuses));
}

static void go_asynchronous(const struct exchange *exchange, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        exchange_messages(exchange, pass);
    }
}

/* All passes have the same buffers. */
static void go_asynchronous_same(const struct exchange *exchange, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        exchange_messages(exchange, 0);
    }
}

INLINE void put_all(const struct exchange *exchange, int pass)
{
    for (int i = 0; i < exchange->sends.count; i++) {
        put(exchange, &exchange->sends.part[i], pass);
    }
}

static void go_put_pscw(const struct exchange *exchange, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        expose(exchange, &exchange->sources);
        if (exchange->destinations.count > 0) {
            CHECKED(MPI_Win_start(exchange->destinations.group, 0, exchange->window.handle));
            put_all(exchange, pass);
            CHECKED(MPI_Win_complete(exchange->window.handle));
        }
        await_origins(exchange, &exchange->sources);
    }
}

static void go_put_notice(const struct exchange *exchange, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        put_all(exchange, pass);
        tell_all(exchange, pass);
        hear_all(exchange, pass);
    }
}

static void go_put_fence(const struct exchange *exchange, int passes)
{
    for (int pass = 0; pass < passes; pass++) {
        put_all(exchange, pass);
        fence(exchange, pass + 1 == passes);
    }
}

struct sides {
    const char *name;
    bool is_double;
};

static const struct sides sides[] = {{"single", false}, {"double", true}};
static const struct interface interfaces[] = {
    {"synchronous", NO_WINDOW, go_synchronous},
    {"asynchronous", NO_WINDOW, go_asynchronous},
    {"put_pscw", PSCW, go_put_pscw},
    {"put_lock_all", LOCK_ALL, go_put_notice},
    {"put_fence", FENCE, go_put_fence},
    {"asynchronous_same_buffers", SAME_SLOT, go_asynchronous_same},
};

static const struct axis axes[] = {
    INTERFACE_AXIS("synchronous,asynchronous,put_pscw,put_lock_all,put_fence"),
    FLAVOR_OF_WINDOW_AXIS("put_pscw,put_lock_all,put_fence"),
    CHOICE_AXIS("sides", "double: each pair is there a second time, reversed", "single,double",
                sides),
    INTEGER_AXIS("largest_bytes", "sizes are uniform from 8 to so many bytes, a multiple of 8",
                 "4096", 8, LARGEST_BYTES_MAX),
};

static const struct option options[] = {
    EXCHANGE_OPTIONS,
    {"messages", "N", "messages of a rank on average, single-sided", OPTION_INTEGER, "6", 1, 1000},
    {"map-seed", "N", "of the map; the same in all launches", OPTION_INTEGER, "1", 0, 1LL << 31},
    {"list-map", NULL, "record source, destination and bytes of each message", OPTION_FLAG, NULL, 0,
     0},
    {"changed-pair", "K", "for tests: the last rank turns this pair round", OPTION_INTEGER, NULL, 0,
     1LL << 31},
};

/* All ranks: compare this rank's map with rank 0's map. */
static bool is_one_map(struct exchange *exchange, const struct map *map)
{
    const uint32_t own = map_checksum(map);
    uint32_t of_first = own;
    CHECKED(MPI_Bcast(&of_first, 1, MPI_UINT32_T, 0, world_communicator));
    record_verification(exchange->record, verify_exact("map", own, of_first));
    return world_greatest(own != of_first) == 0;
}

static void record_map(struct record *record, const struct map *map)
{
    double bytes = 0;
    for (int i = 0; i < map->count; i++) {
        bytes += (double)map->links[i].elements * sizeof(int64_t);
    }
    series_add(record_series(record, "map_checksum", "1", 1), map_checksum(map));
    series_add(record_series(record, "pass_bytes", "count", 1), bytes);
}

/* List the map as the source's sts -v does. */
static void list_map(struct record *record, const struct map *map)
{
    struct series *sources = record_series(record, "link_source", "1", 1);
    struct series *destinations = record_series(record, "link_destination", "1", 1);
    struct series *sizes = record_series(record, "link_bytes", "count", 1);
    for (int i = 0; i < map->count; i++) {
        series_add(sources, map->links[i].source);
        series_add(destinations, map->links[i].destination);
        series_add(sizes, (double)map->links[i].elements * sizeof(int64_t));
    }
}

static bool describe(struct exchange *exchange)
{
    const struct options *asked = &exchange->launch->options;
    const struct sides *chosen = cell_choice(exchange->cell, "sides");
    const int most = (int)cell_number(exchange->cell, "largest_bytes") / 8;
    const int count = exchange->ranks * (int)options_integer(asked, "messages");
    const uint64_t seed = (uint64_t)options_integer(asked, "map-seed");
    struct map map = map_draw(seed, exchange->ranks, count, most, chosen->is_double);
    if (options_text(asked, "changed-pair") != NULL && exchange->rank == exchange->ranks - 1) {
        struct link *link = &map.links[options_integer(asked, "changed-pair") % map.count];
        const int source = link->source;
        link->source = link->destination;
        link->destination = source;
    }
    const bool is_one = is_one_map(exchange, &map);
    for (int i = 0; i < map.count; i++) {
        const struct link *link = &map.links[i];
        exchange_add(exchange, link->source, link->destination, link->elements);
    }
    if (exchange->rank == 0) {
        record_map(exchange->record, &map);
        if (options_flag(asked, "list-map")) {
            list_map(exchange->record, &map);
        }
    }
    map_free(&map);
    return is_one;
}

static const struct kind kind = {.describe = describe, .sequel = 1};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    exchange_run(launch, cell, record, &kind);
}

KERNEL("some_to_some", "time until random pairs have exchanged messages of random sizes",
       .run_cell = run_cell)
