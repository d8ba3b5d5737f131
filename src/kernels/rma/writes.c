/* All other ranks write to rank 0: windows and payloads. */
#include "rma/writes.h"

#include <string.h>

#include "harness/watchdog.h"
#include "harness/world.h"
#include "mpi/world.h"

#define BURST_BYTES (256 << 10)

struct writes writes_of(struct launch *launch, const struct cell *cell, struct record *record)
{
    return writes_of_elements(launch, cell, record,
                              cell_number(cell, "size_bytes") / sizeof(int64_t));
}

struct writes writes_of_elements(struct launch *launch, const struct cell *cell,
                                 struct record *record, double whole_elements)
{
    const struct flavor *flavor = cell_choice(cell, "flavor");
    const int elements = (int)whole_elements;
    const long long longest = options_integer(&launch->options, "burst");
    const long long held = BURST_BYTES / (long long)sizeof(int64_t) / elements;
    return (struct writes){.launch = launch,
                           .cell = cell,
                           .record = record,
                           .flavor = flavor == NULL ? &flavors[FLAVOR_SHARED] : flavor,
                           .size_bytes = whole_elements * sizeof(int64_t),
                           .elements = elements,
                           .operation = operation_named("put"),
                           .origins = launch->ranks - 1,
                           .slots = held < 1         ? 1
                                    : held < longest ? (int)held
                                                     : (int)longest,
                           .info = MPI_INFO_NULL};
}

static void describe_payload(struct writes *writes)
{
    const int rank = writes->launch->rank, origins = writes->origins;
    writes->payload = (struct payload){.launch = writes->launch,
                                       .cell = writes->cell,
                                       .operation = writes->operation,
                                       .layout = writes->layout,
                                       .elements = writes->elements,
                                       .slots = writes->slots,
                                       .regions = origins,
                                       .is_common = writes->is_common,
                                       .own_begin = rank == TARGET ? 0 : rank - 1,
                                       .own_end = rank > origins ? origins : rank,
                                       .is_target = rank == TARGET,
                                       .windows = &writes->window,
                                       .window_count = 1};
}

/* At the others: how they reach their region. */
static void find_region(struct writes *writes)
{
    const int rank = writes->launch->rank;
    const int region = rank > writes->origins ? 0 : rank - 1;
    const struct epoch epoch = {.window = writes->window.handle, .target = TARGET};
    const struct layout_type type = {.type = MPI_INT64_T, .count = writes->elements};
    writes->transfer = payload_transfer(&writes->payload, region, epoch, type);
    if (writes->flavor == &flavors[FLAVOR_SHARED]) {
        MPI_Aint size_bytes = 0;
        int unit = 0;
        char *memory = NULL;
        CHECKED(MPI_Win_shared_query(epoch.window, TARGET, &size_bytes, &unit, &memory));
        writes->shared = (int64_t *)(memory + writes->transfer.displacement);
    }
}

bool writes_open(struct writes *writes)
{
    const bool is_target = writes->launch->rank == TARGET;
    const double size_bytes = writes->size_bytes;
    watchdog_phase = "window";
    if (writes->elements * (double)sizeof(int64_t) != size_bytes) {
        record_status(writes->record, CELL_UNSUPPORTED, "size_bytes is %.0f, no multiple of 8",
                      size_bytes);
        return false;
    }
    if (!window_is_supported(writes->launch, writes->flavor, writes->record)) {
        return false;
    }
    describe_payload(writes);
    payload_allocate(&writes->payload);
    const MPI_Aint window_bytes = payload_window_bytes(&writes->payload) + writes->more_bytes;
    writes->window = window_open_with(writes->launch, writes->flavor,
                                      is_target ? window_bytes : writes->own_bytes, writes->info);
    record_window(writes->record, writes->window.handle, writes->flavor->name,
                  (long long)window_bytes);
    if (is_target) {
        payload_initialise(&writes->payload);
    } else {
        find_region(writes);
    }
    CHECKED(MPI_Barrier(world_communicator));
    if (writes->holds_lock_all) {
        CHECKED(MPI_Win_lock_all(0, writes->window.handle));
        writes->window.is_locked = true;
    }
    return true;
}

void writes_close(struct writes *writes)
{
    watchdog_phase = "window";
    if (writes->holds_lock_all) {
        CHECKED(MPI_Win_unlock_all(writes->window.handle));
        writes->window.is_locked = false;
    }
    window_close(&writes->window);
    payload_free(&writes->payload);
}

bool is_unified(const struct writes *writes)
{
    const char *model = writes->record->window.model;
    const bool is_own = model != NULL && strcmp(model, "unified") == 0;
    const bool is_all = world_greatest(!is_own) == 0;
    if (!is_all) {
        record_status(writes->record, CELL_UNSUPPORTED,
                      "MPI_WIN_MODEL is %s, the idiom needs MPI_WIN_UNIFIED",
                      is_own          ? "another at another rank"
                      : model == NULL ? "not known"
                                      : "MPI_WIN_SEPARATE");
    }
    return is_all;
}

static void prepare(void *state, long long burst)
{
    struct writes *writes = state;
    payload_prepare(&writes->payload, burst);
    payload_begin_fault(&writes->payload, burst);
}

static void check(void *state, long long burst)
{
    struct writes *writes = state;
    payload_end_fault(&writes->payload, burst);
    if (writes->compare != NULL && writes->launch->rank != TARGET) {
        writes->compare(writes, burst);
    }
    payload_advance(&writes->payload, burst);
    payload_check(&writes->payload);
}

struct trial writes_trial(struct writes *writes, double (*go)(void *state, long long burst),
                          const char *time, bool computes)
{
    return (struct trial){.launch = writes->launch,
                          .cell = writes->cell,
                          .record = writes->record,
                          .state = writes,
                          .longest = writes->slots,
                          .prepare = prepare,
                          .go = go,
                          .check = check,
                          .time = time,
                          .meets = computes,
                          .part = writes->launch->rank == TARGET ? COMPUTES : ACCESSES};
}

void writes_record(const struct writes *writes)
{
    payload_record(&writes->payload, writes->record);
    if (writes->compare != NULL) {
        record_verification(writes->record, writes->payload.at_origin);
    }
}
