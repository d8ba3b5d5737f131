/* Contended counter: what does one number of a shared counter cost if several ranks want numbers at
 * the same time?
 *
 * Source: own; a closed queue with one server (Lazowska, Zahorjan, Graham and Sevcik, "Quantitative
 * System Performance", 1984, chapter 5). While one rank holds the counter, the others wait. On a
 * wire with a delay, each rank holds the counter for some round trips, so the wait can be counted.
 *
 * The last ranks are the origins. Each origin takes one number after another until all numbers are
 * gone. Rank 0 has the counter; rank 0 and all other ranks wait in MPI_Barrier. Before the timed
 * accesses, each origin takes one number, which connects the origin to rank 0.
 *
 * Timed, in seconds: messages of the last rank to rank 0 and back (`message`); each origin's
 * accesses (`access`); the mean time between the ends of an origin's accesses (`turn`). With only
 * one access, `turn` is the time of this access. When the numbers are gone, each origin makes one
 * more access, so all turns have the same number of origins. Verified: all origins together get
 * the numbers 0, 1, 2, ..., each once, and each rank gets its numbers in ascending order; the
 * counter's value at the end; each message. */
#include <mpi.h>
#include <stdlib.h>

#include "harness/launch.h"
#include "harness/memory.h"
#include "harness/numbers.h"
#include "harness/watchdog.h"
#include "mpi/checked.h"
#include "mpi/world.h"
#include "rma/synchronisation.h"
#include "rma/window.h"
#include "wire/shared/message.h"

#define NO_NUMBER (-1)

static const struct axis axes[] = {
    SYNCHRONISATION_AXIS("lock_exclusive,lock_all_flush"),
    FLAVOR_AXIS("allocate"),
    INTEGER_AXIS("origins", "how many ranks want numbers, the last ones", "1", 1, 1 << 20),
    DELAY_US_AXIS,
};

static const struct option options[] = {
    {"accesses", "N", "numbers for each origin, the first apart", OPTION_INTEGER, "6", 2, 1000},
    {"messages", "N", "there and back, before", OPTION_INTEGER, "4", 1, SERIES_SAMPLES_MAX},
};

struct queue {
    struct launch *launch;
    struct record *record;
    struct window window;
    struct epoch epoch;
    struct messages messages;
    bool is_origin;
    int64_t *numbers; /* the numbers that this rank got, in order */
    size_t count;
};

/* ---- THE TIMED LOOP ---- */

static int64_t take_number(struct queue *queue)
{
    const enum calls calls = queue->epoch.synchronisation->calls;
    const int64_t one = 1;
    int64_t number = NO_NUMBER;
    begin_epoch(&queue->epoch, calls, false);
    CHECKED(MPI_Fetch_and_op(&one, &number, MPI_INT64_T, TARGET, queue->window.begins[TARGET],
                             MPI_SUM, queue->epoch.window));
    complete_epoch(&queue->epoch, calls);
    queue->numbers[queue->count++] = number;
    return number;
}

/* Take numbers until a number is not below `wanted`. Even if the counter is broken, a rank takes at
 * most `wanted` + 1 numbers. */
static void take_turns(struct queue *queue, int64_t wanted)
{
    struct series *access = record_series(queue->record, "access", "s", 1);
    double first_s = 0, last_s = 0;
    watchdog_phase = "access";
    for (bool is_wanted = true; is_wanted && (int64_t)queue->count <= wanted;) {
        const double begin_s = clock_now_s();
        is_wanted = take_number(queue) < wanted;
        last_s = clock_now_s();
        first_s = access->count == 0 ? last_s : first_s;
        series_add(access, last_s - begin_s);
    }
    const double turns = (double)(access->count - 1);
    series_add(record_series(queue->record, "turn", "s", 1),
               turns > 0 ? (last_s - first_s) / turns : access->samples[0]);
}

/* ---- One cell ---- */

static void send_messages(struct queue *queue)
{
    const long long count = options_integer(&queue->launch->options, "messages");
    struct series *time = NULL;
    watchdog_phase = "message";
    for (long long i = 0; i < count; i++) {
        const double message_s = message_there_and_back(&queue->messages);
        if (queue->messages.is_origin) {
            series_keep(queue->record, &time, "message", "s", 1, message_s);
        }
    }
}

/* All ranks. */
static void use_counter(struct queue *queue, int origins)
{
    const struct launch *launch = queue->launch;
    const struct synchronisation *synchronisation = queue->epoch.synchronisation;
    const int64_t wanted = origins * (1 + options_integer(&launch->options, "accesses"));
    queue->numbers = allocate((size_t)wanted + 1, sizeof queue->numbers[0]);
    if (queue->messages.is_origin || launch->rank == TARGET) {
        send_messages(queue);
    }
    watchdog_phase = "first access";
    if (queue->is_origin) {
        synchronisation->enter(&queue->epoch);
        take_number(queue);
    }
    CHECKED(MPI_Barrier(world_communicator));
    if (queue->is_origin) {
        take_turns(queue, wanted);
        synchronisation->leave(&queue->epoch);
    }
    watchdog_phase = "end";
    CHECKED(MPI_Barrier(world_communicator));
}

static void verify(struct queue *queue)
{
    int64_t final_value = 0;
    if (queue->launch->rank == TARGET) {
        window_begin_own(&queue->window, MPI_LOCK_EXCLUSIVE);
        final_value = *(const int64_t *)queue->window.memory;
        window_end_own(&queue->window);
    }
    numbers_verify(queue->launch, queue->record, queue->numbers, queue->count, final_value);
    record_verification(queue->record, queue->messages.sent_back);
}

/* Collective: rank 0 writes its counter before the first barrier of all ranks. */
static void open_counter(struct queue *queue, const struct flavor *flavor)
{
    const bool is_target = queue->launch->rank == TARGET;
    watchdog_phase = "window";
    queue->window = window_open(queue->launch, flavor, is_target ? sizeof(int64_t) : 0);
    queue->epoch.window = queue->window.handle;
    record_window(queue->record, queue->window.handle, flavor->name, sizeof(int64_t));
    if (is_target) {
        window_begin_own(&queue->window, MPI_LOCK_EXCLUSIVE);
        *(int64_t *)queue->window.memory = 0;
        window_end_own(&queue->window);
    }
    CHECKED(MPI_Barrier(world_communicator));
}

static bool is_supported(const struct launch *launch, const struct cell *cell,
                         struct record *record)
{
    const struct synchronisation *synchronisation = cell_choice(cell, "synchronisation");
    const int origins = (int)cell_number(cell, "origins");
    if (origins >= launch->ranks) {
        record_status(record, CELL_UNSUPPORTED, "rank 0 and %d origins need %d ranks: found %d",
                      origins, origins + 1, launch->ranks);
    } else if (synchronisation->kind != PASSIVE) {
        record_status(record, CELL_UNSUPPORTED,
                      "an origin takes numbers when it wants: passive target epochs");
    }
    return record->status == CELL_OK &&
           window_is_supported(launch, cell_choice(cell, "flavor"), record);
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const int origins = (int)cell_number(cell, "origins");
    const int last = launch->ranks - 1;
    struct queue queue = {
        .launch = launch,
        .record = record,
        .epoch = {.synchronisation = cell_choice(cell, "synchronisation"), .target = TARGET},
        .messages = {.origin = last,
                     .is_origin = launch->rank == last,
                     .sent_back = {.name = "messages"}},
        .is_origin = launch->rank > last - origins};
    if (!is_supported(launch, cell, record)) {
        return;
    }
    open_counter(&queue, cell_choice(cell, "flavor"));
    use_counter(&queue, origins);
    verify(&queue);
    watchdog_phase = "window";
    window_close(&queue.window);
    free(queue.numbers);
}

KERNEL("contended_counter", "what does a number of a counter cost that several ranks want at once?",
       .run_cell = run_cell)
