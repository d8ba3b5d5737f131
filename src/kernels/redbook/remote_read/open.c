/* What a remote read or write needs: a file, a page cache in a known state, a server, a window. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/memory.h"
#include "redbook/remote_read/distant.h"
#include "redbook/remote_read/pages.h"

#define BURST_BYTES (256 << 10) /* of all answers of a burst */
#define FILE_BYTES (8 << 20)    /* of the file, but at most MOST_PLACES places: */
#define MOST_PLACES 1024
#define DROPS 5 /* tries: the system does not give up a page in use */

static long long clamp(long long value, long long least, long long most)
{
    return value < least ? least : value > most ? most : value;
}

static long long divisor(long long a, long long b)
{
    return b == 0 ? a : divisor(b, a % b);
}

/* Consecutive places are so far apart that read-ahead does not help. No place is used again before
 * all other places were used. */
static void choose_places(struct distant *own)
{
    const long long burst = options_integer(&own->launch->options, "burst");
    own->places = clamp(FILE_BYTES / own->bytes, 2, MOST_PLACES);
    own->slots = (int)clamp(clamp(BURST_BYTES / own->bytes, 1, own->places), 1, burst);
    own->slot_bytes = CODE_BYTES + own->bytes;
    own->stride = own->places * 5 / 8;
    while (divisor(own->stride, own->places) != 1) {
        own->stride++;
    }
    own->right = allocate((size_t)own->slots, sizeof own->right[0]);
    own->wanted = allocate((size_t)own->slots, sizeof own->wanted[0]);
}

void distant_set_cache(struct distant *own)
{
    if (own->descriptor >= 0) {
        const long long bytes = own->stored.bytes;
        own->resident = pages_resident(own->descriptor, bytes);
        for (int i = 0; own->is_cold && own->resident > 0 && i < DROPS; i++) {
            pages_drop(own->descriptor);
            own->resident = pages_resident(own->descriptor, bytes);
        }
    }
}

/* Collective: does the file system give up pages? */
static bool is_cold_where_asked(struct distant *own)
{
    distant_set_cache(own);
    const bool is_reader = own->launch->rank == own->reader;
    const double stays = world_greatest(is_reader ? fabs(own->resident) : 0);
    if (own->is_cold && stays > 0) {
        record_status(own->record, CELL_UNSUPPORTED,
                      "the file stays in the page cache (%s on %s): asked for none of it, found "
                      "%.0f %%",
                      own->stored.file_system, own->stored.device, 100 * stays);
    }
    return !own->is_cold || stays <= 0;
}

static bool open_file(struct distant *own)
{
    const int rank = own->launch->rank;
    own->descriptor = -1;
    if (!storage_open(&own->stored, own->launch, own->cell, own->record, own->places * own->bytes,
                      own->reader)) {
        return false;
    }
    if (rank == HOME) {
        distant_fill_file(own);
    }
    world_barrier();
    if (rank == own->reader) {
        own->descriptor = open(own->stored.path, (own->writes ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    }
    return is_cold_where_asked(own);
}

static void close_file(struct distant *own)
{
    if (own->descriptor >= 0) {
        close(own->descriptor);
    }
    if (own->stored.path[0] != '\0') {
        storage_close(&own->stored, own->launch);
    }
    free(own->right);
    free(own->wanted);
}

/* The client's slots, and the notice behind them. */
static void open_window(struct distant *own)
{
    const MPI_Aint slots_bytes = (MPI_Aint)(own->slots * own->slot_bytes);
    const bool is_client = own->launch->rank == CLIENT;
    own->window = window_open(own->launch, &flavors[FLAVOR_ALLOCATE],
                              is_client ? slots_bytes + (MPI_Aint)sizeof(uint64_t) : 0);
    record_window(own->record, own->window.handle, own->window.flavor->name,
                  (long long)slots_bytes + (long long)sizeof(uint64_t));
    window_hold(&own->window);
    own->notice = (struct notice){.window = own->window.handle,
                                  .rank = CLIENT,
                                  .displacement = own->window.begins[CLIENT] + slots_bytes};
    if (is_client) {
        own->answers = own->window.memory;
        window_begin_own(&own->window, MPI_LOCK_SHARED);
        *(uint64_t *)(own->answers + slots_bytes) = 0;
        window_end_own(&own->window);
    }
    world_barrier();
}

static void close_window(struct distant *own)
{
    window_close(&own->window);
}

bool distant_open(struct distant *own, bool asks, bool has_window)
{
    if (own->bytes % (long long)sizeof(int64_t) != 0) {
        record_status(own->record, CELL_UNSUPPORTED, "size_bytes is %lld, no multiple of 8",
                      own->bytes);
        return false;
    }
    if (own->is_thread && !server_thread_is_supported(own->launch, own->record)) {
        return false;
    }
    own->data = (struct verification){.name = "data"};
    own->refused = (struct verification){.name = "refused"};
    own->content =
        (uint64_t)options_integer(&own->launch->options, "seed") * 1000 + own->cell->index + 1;
    choose_places(own);
    if (!open_file(own)) {
        close_file(own);
        return false;
    }
    own->reply = allocate_pages((size_t)own->slot_bytes);
    if (has_window) {
        open_window(own);
    } else if (own->launch->rank == CLIENT) {
        own->answers = allocate_pages((size_t)(own->slots * own->slot_bytes));
    }
    if (asks) {
        own->server = (struct server){.record = own->record,
                                      .rank = HOME,
                                      .is_thread = own->is_thread,
                                      .answer = distant_answer,
                                      .state = own};
        server_start(&own->server);
    }
    return true;
}

void distant_close(struct distant *own, bool asks, bool has_window)
{
    if (asks) {
        server_stop(&own->server);
    }
    if (has_window) {
        close_window(own);
    } else if (own->launch->rank == CLIENT) {
        free(own->answers);
    }
    if (own->launch->rank == CLIENT || (own->writes && own->launch->rank == own->reader)) {
        record_verification(own->record, own->data);
        if (asks) {
            record_verification(own->record, own->refused);
        }
    }
    storage_record(&own->stored, own->launch, own->record);
    free(own->reply);
    close_file(own);
}
