/* The bursts of an exchange: prepared, timed, verified; one description for all interfaces. */
#include "slots/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"
#include "harness/watchdog.h"
#include "slots/lanes.h"
#include "slots/messages.h"

/* ---- The messages of a pass ---- */

static void append(struct parts *parts, struct part part)
{
    parts->part = reallocate(parts->part, ((size_t)parts->count + 1) * sizeof parts->part[0]);
    parts->part[parts->count++] = part;
}

int exchange_elements(struct exchange *exchange)
{
    const long long size_bytes = size_or_limit(exchange->launch, exchange->cell, exchange->record);
    exchange->size_bytes = size_bytes;
    if (size_bytes % (long long)sizeof(int64_t) != 0) {
        record_status(exchange->record, CELL_UNSUPPORTED, "size_bytes is %lld, no multiple of 8",
                      size_bytes);
        return 0;
    }
    return (int)(size_bytes / (long long)sizeof(int64_t));
}

void exchange_add(struct exchange *exchange, int source, int destination, int elements)
{
    exchange_add_on(exchange, 0, source, destination, elements);
}

void exchange_add_on(struct exchange *exchange, int lane, int source, int destination, int elements)
{
    const int of_lane = lane * exchange->ranks;
    size_t *at_source = &exchange->sent_elements[of_lane + source];
    size_t *at_destination = &exchange->received_elements[of_lane + destination];
    struct part part = {.elements = elements, .number = exchange->messages++, .lane = lane};
    if (source == exchange->rank) {
        part.peer = destination;
        part.own = *at_source;
        part.at_peer = *at_destination;
        append(&exchange->sends, part);
    }
    if (destination == exchange->rank) {
        part.peer = source;
        part.own = *at_destination;
        part.at_peer = *at_source;
        append(&exchange->receives, part);
    }
    *at_source += (size_t)elements;
    *at_destination += (size_t)elements;
}

bool exchange_describe_blocks(struct exchange *exchange)
{
    const int elements = exchange_elements(exchange);
    for (int source = 0; elements > 0 && source < exchange->ranks; source++) {
        for (int destination = 0; destination < exchange->ranks; destination++) {
            exchange_add(exchange, source, destination, elements);
        }
    }
    return elements > 0;
}

/* Return the peers of messages, each peer once. */
static struct peers peers_of(const struct parts *parts, int ranks)
{
    struct peers peers = {.ranks = allocate((size_t)ranks, sizeof peers.ranks[0])};
    bool *is_known = allocate((size_t)ranks, sizeof is_known[0]);
    MPI_Group world;
    for (int i = 0; i < parts->count; i++) {
        const int peer = parts->part[i].peer;
        if (!is_known[peer]) {
            peers.ranks[peers.count++] = peer;
            is_known[peer] = true;
        }
    }
    CHECKED(MPI_Comm_group(world_communicator, &world));
    CHECKED(MPI_Group_incl(world, peers.count, peers.ranks, &peers.group));
    CHECKED(MPI_Group_free(&world));
    free(is_known);
    return peers;
}

static void free_peers(struct peers *peers)
{
    /* a group without members may be MPI's own */
    if (peers->count > 0) {
        CHECKED(MPI_Group_free(&peers->group));
    }
    free(peers->ranks);
}

/* The elements of the largest slot of any lane and rank; all slots have this size. */
static size_t slot_elements_of(const struct exchange *exchange)
{
    size_t most = 0;
    for (int i = 0; i < exchange->lanes * exchange->ranks; i++) {
        const size_t sent = exchange->sent_elements[i];
        const size_t received = exchange->received_elements[i];
        most = sent > most ? sent : most;
        most = received > most ? received : most;
    }
    return most;
}

/* ---- Payloads ---- */

static uint64_t pass_number(const struct exchange *exchange, int pass)
{
    return exchange->first + (uint64_t)pass;
}

/* The number of a message among the messages of all passes. */
static uint64_t number_of(const struct exchange *exchange, const struct part *part, int pass)
{
    return pass_number(exchange, pass) * exchange->messages + part->number;
}

static void fill_messages(struct exchange *exchange, int pass)
{
    for (int i = 0; i < exchange->sends.count; i++) {
        const struct part *part = &exchange->sends.part[i];
        message_fill(source_of(exchange, part, pass), part->elements,
                     number_of(exchange, part, pass));
    }
    for (int i = 0; i < exchange->receives.count; i++) {
        const struct part *part = &exchange->receives.part[i];
        message_clear(destination_of(exchange, part, pass), part->elements);
    }
}

static void check_messages(struct exchange *exchange, int pass)
{
    for (int i = 0; i < exchange->receives.count; i++) {
        const struct part *part = &exchange->receives.part[i];
        message_check(&exchange->found, destination_of(exchange, part, pass), part->elements,
                      number_of(exchange, part, pass), pass_number(exchange, pass));
    }
}

static const struct contents messages = {.fill = fill_messages, .compare = check_messages};

static const struct contents *contents_of(const struct exchange *exchange)
{
    return exchange->kind->contents != NULL ? exchange->kind->contents : &messages;
}

/* ---- Bursts ---- */

/* The slots that have the burst's messages. */
static int slots_in_use(const struct exchange *exchange)
{
    return exchange->interface->epochs == SAME_SLOT ? 1 : exchange->passes;
}

static void prepare(void *state, long long burst)
{
    struct exchange *exchange = state;
    exchange->first += (uint64_t)exchange->passes;
    exchange->passes = (int)burst;
    lanes_begin_own(exchange);
    for (int pass = 0; pass < slots_in_use(exchange); pass++) {
        contents_of(exchange)->fill(exchange, pass);
    }
    lanes_end_own(exchange);
    if (exchange->interface->epochs == FENCE) {
        CHECKED(MPI_Win_fence(MPI_MODE_NOPRECEDE, exchange->window.handle));
    }
}

static double go(void *state, long long burst)
{
    struct exchange *exchange = state;
    const double begin_s = clock_now_s();
    exchange->interface->go(exchange, (int)burst);
    exchange->burst_s = clock_now_s() - begin_s;
    return exchange->burst_s;
}

static void check(void *state, long long burst)
{
    struct exchange *exchange = state;
    (void)burst;
    lanes_begin_own(exchange);
    for (int pass = 0; pass < slots_in_use(exchange); pass++) {
        contents_of(exchange)->compare(exchange, pass);
    }
    lanes_end_own(exchange);
}

static void keep(void *state, long long burst)
{
    struct exchange *exchange = state;
    if (!exchange->kind->first_counts || exchange->rank == 0) {
        series_keep(exchange->record, &exchange->time, "time", "s", burst,
                    exchange->burst_s / (double)(burst * exchange->kind->sequel));
    }
    if (exchange->kind->keep != NULL) {
        exchange->kind->keep(exchange, burst);
    }
}

/* ---- A cell ---- */

/* Choose the number of slots; false, with the reason in the record, if there is no room for one. */
static bool has_room(struct exchange *exchange)
{
    if (exchange->kind->contents == NULL) {
        exchange->slot_elements = slot_elements_of(exchange);
    }
    const long long slot_bytes = (long long)(exchange->slot_elements * sizeof(int64_t));
    exchange->slots = slots_choose(exchange->launch, exchange->record,
                                   exchange->lanes * exchange->regions * slot_bytes);
    return exchange->slots > 0;
}

static void take_samples(struct exchange *exchange)
{
    const long long asked = options_integer(&exchange->launch->options, "burst");
    const struct trial trial = {
        .launch = exchange->launch,
        .cell = exchange->cell,
        .record = exchange->record,
        .state = exchange,
        .longest = exchange->interface->epochs == SAME_SLOT ? asked : exchange->slots,
        .prepare = prepare,
        .go = go,
        .check = check,
        .keep = keep};
    exchange->destinations = peers_of(&exchange->sends, exchange->ranks);
    exchange->sources = peers_of(&exchange->receives, exchange->ranks);
    const size_t receives = (size_t)exchange->receives.count;
    exchange->requests = allocate(receives, sizeof exchange->requests[0]);
    exchange->statuses = allocate(receives, sizeof exchange->statuses[0]);
    trial_run(&trial);
    record_verification(exchange->record, exchange->found);
    if (exchange->size_bytes > 0) {
        keep_size_of_word(exchange->launch, exchange->cell, exchange->record, exchange->size_bytes);
    }
    free(exchange->requests);
    free(exchange->statuses);
    free_peers(&exchange->destinations);
    free_peers(&exchange->sources);
}

void exchange_run(struct launch *launch, const struct cell *cell, struct record *record,
                  const struct kind *kind)
{
    const size_t ranks = (size_t)launch->ranks;
    struct exchange exchange = {.launch = launch,
                                .cell = cell,
                                .record = record,
                                .kind = kind,
                                .interface = cell_choice(cell, "interface"),
                                .rank = launch->rank,
                                .ranks = launch->ranks,
                                .first = 1,
                                .regions = kind->contents == NULL ? 2 : 1,
                                .lanes = 1,
                                .sent_elements = allocate(TEAM_MAX * ranks, sizeof(size_t)),
                                .received_elements = allocate(TEAM_MAX * ranks, sizeof(size_t)),
                                .found = {.name = "message"}};
    watchdog_phase = "window";
    if (kind->describe(&exchange) && has_room(&exchange) && lanes_open(&exchange)) {
        take_samples(&exchange);
        watchdog_phase = "window";
        lanes_close(&exchange);
    }
    free(exchange.sends.part);
    free(exchange.receives.part);
    free(exchange.sent_elements);
    free(exchange.received_elements);
}
