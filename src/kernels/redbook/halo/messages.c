/* The messages of a pass, with a datatype for the sent and the received part of each. */
#include <string.h>

#include "redbook/halo/halo.h"

/* Interfaces with this ending exchange one dimension after the other. */
#define STEPS "_steps"

static bool goes_in_steps(const char *interface)
{
    const size_t length = strlen(interface), end = strlen(STEPS);
    return length > end && strcmp(interface + length - end, STEPS) == 0;
}

/* Both ends of an edge have it at the same place of their lists. Otherwise, if two blocks are
 * neighbours on both sides, MPI could swap their two messages. */
static void make_graph(void)
{
    CHECKED(MPI_Dist_graph_create_adjacent(world_communicator, halo.count, halo.from, halo.ones,
                                           halo.count, halo.to, halo.ones, MPI_INFO_NULL, 0,
                                           &halo.graph));
    CHECKED(MPI_Comm_set_errhandler(halo.graph, MPI_ERRORS_RETURN));
}

static void make_message(int rank, int i)
{
    const struct direction *direction = &halo.directions[i];
    halo.to[i] = domain_neighbour(&halo.domain, rank, direction, 1);
    halo.from[i] = domain_neighbour(&halo.domain, rank, direction, -1);
    const struct block there = domain_block(&halo.domain, halo.to[i]);
    const struct box sent = box_sent(&halo.domain, &halo.block, direction);
    const struct box filled = box_filled(&halo.domain, &halo.block, direction);
    const struct box filled_there = box_filled(&halo.domain, &there, direction);
    halo.ones[i] = 1;
    halo.sent[i] = box_type(&halo.block, &sent);
    halo.filled[i] = box_type(&halo.block, &filled);
    halo.filled_there[i] = box_type(&there, &filled_there);
}

/* Series of rank 0: how many messages a rank sends in a pass, and how many bytes all ranks together
 * send to other ranks. */
static void add_messages(struct exchange *exchange)
{
    double bytes = 0;
    for (int rank = 0; rank < exchange->ranks; rank++) {
        const struct block block = domain_block(&halo.domain, rank);
        for (int i = 0; i < halo.count; i++) {
            const int neighbour = domain_neighbour(&halo.domain, rank, &halo.directions[i], 1);
            const struct box box = box_sent(&halo.domain, &block, &halo.directions[i]);
            exchange_add(exchange, rank, neighbour, box_points(&box));
            bytes += neighbour == rank ? 0 : (double)box_points(&box) * sizeof(int64_t);
        }
    }
    if (exchange->rank == 0) {
        series_add(record_series(exchange->record, "messages", "count", 1), halo.count);
        series_add(record_series(exchange->record, "sent_bytes", "count", 1), bytes);
    }
}

bool messages_describe(struct exchange *exchange)
{
    const int dimensions = (int)cell_number(exchange->cell, "dimensions");
    const int side = (int)cell_number(exchange->cell, "side");
    const char *interface = exchange->interface->name;
    halo.domain = domain_over(exchange->ranks, dimensions, side);
    if (!domain_has_points(&halo.domain)) {
        record_status(exchange->record, CELL_UNSUPPORTED,
                      "a side of %d points has none for each of %d ranks", side, exchange->ranks);
        return false;
    }
    halo.block = domain_block(&halo.domain, exchange->rank);
    halo.count = domain_directions(&halo.domain, goes_in_steps(interface), halo.directions);
    for (int i = 0; i < halo.count; i++) {
        make_message(exchange->rank, i);
    }
    if (strcmp(interface, "neighbor_alltoallw") == 0) {
        make_graph();
    }
    add_messages(exchange);
    exchange->slot_elements = points_of_slot(exchange->ranks);
    return true;
}

void messages_keep(struct exchange *exchange, long long burst)
{
    if (halo.updates) {
        series_keep(exchange->record, &halo.communication, "communication", "s", burst,
                    halo.communication_s / (double)burst);
    }
}

void messages_free(void)
{
    for (int i = 0; i < halo.count; i++) {
        CHECKED(MPI_Type_free(&halo.sent[i]));
        CHECKED(MPI_Type_free(&halo.filled[i]));
        CHECKED(MPI_Type_free(&halo.filled_there[i]));
    }
    if (halo.graph != MPI_COMM_NULL) {
        CHECKED(MPI_Comm_free(&halo.graph));
    }
}
