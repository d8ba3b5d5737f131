/* The lanes of an exchange: communicators or windows, and memory, for its messages. */
#include "slots/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"

#define PAGE_BYTES 4096 /* two lanes have no page in common */

static bool has_windows(const struct exchange *exchange)
{
    const enum epochs epochs = exchange->interface->epochs;
    return epochs != NO_WINDOW && epochs != SAME_SLOT;
}

static int window_count(const struct exchange *exchange)
{
    return !has_windows(exchange) ? 0 : exchange->lanes_apart ? exchange->lanes : 1;
}

static struct window *window_number(struct exchange *exchange, int number)
{
    return number == 0 ? &exchange->window : &exchange->further_windows[number - 1];
}

/* Bytes of two regions; whole pages if there are several lanes. */
static size_t lane_bytes(const struct exchange *exchange)
{
    const size_t elements =
        (size_t)exchange->regions * (size_t)exchange->slots * exchange->slot_elements;
    const size_t bytes = elements * sizeof(int64_t);
    return exchange->lanes == 1 ? bytes : (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

/* ---- This rank's loads and stores ---- */

void lanes_begin_own(struct exchange *exchange)
{
    for (int i = 0; i < window_count(exchange); i++) {
        window_begin_between(window_number(exchange, i));
    }
}

void lanes_end_own(struct exchange *exchange)
{
    for (int i = 0; i < window_count(exchange); i++) {
        window_end_between(window_number(exchange, i));
    }
}

/* ---- Open and close ---- */

static void open_communicators(struct exchange *exchange)
{
    exchange->memory = allocate_pages((size_t)exchange->lanes * lane_bytes(exchange));
    for (int i = 0; i < exchange->lanes; i++) {
        struct lane *lane = &exchange->lane[i];
        lane->memory = (int64_t *)((char *)exchange->memory + (size_t)i * lane_bytes(exchange));
        lane->communicator = world_communicator;
        if (exchange->lanes_apart) {
            CHECKED(MPI_Comm_dup(world_communicator, &lane->communicator));
        }
    }
}

static void close_communicators(struct exchange *exchange)
{
    for (int i = 0; exchange->lanes_apart && i < exchange->lanes; i++) {
        CHECKED(MPI_Comm_free(&exchange->lane[i].communicator));
    }
    free(exchange->memory);
}

/* Open a window with notices before the regions. */
static void open_window(struct exchange *exchange, struct window *window,
                        const struct flavor *flavor, size_t bytes)
{
    const size_t notices = notice_bytes(exchange);
    *window = window_open(exchange->launch, flavor, (MPI_Aint)(notices + bytes));
    window_begin_own(window, MPI_LOCK_EXCLUSIVE);
    memset(window->memory, 0, notices);
    window_end_own(window);
    CHECKED(MPI_Barrier(world_communicator));
    if (exchange->interface->epochs == LOCK_ALL) {
        window_hold(window);
    }
}

static void open_windows(struct exchange *exchange, const struct flavor *flavor)
{
    const int count = window_count(exchange), lanes_of_each = exchange->lanes / count;
    const size_t bytes = (size_t)lanes_of_each * lane_bytes(exchange);
    for (int i = 0; i < count; i++) {
        open_window(exchange, window_number(exchange, i), flavor, bytes);
    }
    record_window(exchange->record, exchange->window.handle, flavor->name,
                  (long long)(notice_bytes(exchange) + bytes));
    for (int i = 0; i < exchange->lanes; i++) {
        struct lane *lane = &exchange->lane[i];
        lane->window = window_number(exchange, i / lanes_of_each);
        lane->begin =
            (MPI_Aint)(notice_bytes(exchange) + (size_t)(i % lanes_of_each) * lane_bytes(exchange));
        lane->memory = (int64_t *)((char *)lane->window->memory + lane->begin);
    }
}

static void close_windows(struct exchange *exchange)
{
    for (int i = 0; i < window_count(exchange); i++) {
        window_close(window_number(exchange, i));
    }
}

bool lanes_open(struct exchange *exchange)
{
    const struct flavor *flavor = cell_choice(exchange->cell, "flavor");
    if (!has_windows(exchange)) {
        open_communicators(exchange);
        return true;
    }
    if (!window_is_supported(exchange->launch, flavor, exchange->record)) {
        return false;
    }
    open_windows(exchange, flavor);
    return true;
}

void lanes_close(struct exchange *exchange)
{
    (has_windows(exchange) ? close_windows : close_communicators)(exchange);
}
