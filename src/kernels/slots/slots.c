/* Slots in a window: their description, their windows, and their trial. */
#include "slots/accesses.h"

#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"
#include "harness/watchdog.h"
#include "harness/world.h"
#include "mpi/checked.h"
#include "mpi/world.h"
#include "rma/ghost.h"
#include "slots/inside.h"

#define BURST_BYTES (256 << 10)
#define SPARE_ELEMENTS 8

/* ---- Their description ---- */

static bool has_ghost(const struct slots *slots)
{
    return slots->holder != slots->target;
}

struct slots slots_of(struct launch *launch, const struct cell *cell, struct record *record)
{
    return slots_of_elements(launch, cell, record,
                             cell_number(cell, "size_bytes") / sizeof(int64_t),
                             options_integer(&launch->options, "burst"));
}

struct slots slots_of_elements(struct launch *launch, const struct cell *cell,
                               struct record *record, double whole_elements, long long longest)
{
    const struct flavor *flavor = cell_choice(cell, "flavor");
    const int elements = (int)whole_elements, rank = launch->rank, origins = launch->ranks - 1;
    const long long held = BURST_BYTES / (long long)sizeof(int64_t) / (elements > 0 ? elements : 1);
    return (struct slots){.launch = launch,
                          .cell = cell,
                          .record = record,
                          .flavor = flavor == NULL ? &flavors[FLAVOR_SHARED] : flavor,
                          .elements = elements,
                          .size_bytes = whole_elements * sizeof(int64_t),
                          .element = element_named("int64"),
                          .stride_bytes = sizeof(int64_t),
                          .makes = operation_named("put"),
                          .count = held < 1         ? 1
                                   : held < longest ? (int)held
                                                    : (int)longest,
                          .origins = origins,
                          .begin = rank == TARGET ? 0 : rank - 1,
                          .end = rank == TARGET ? 0 : rank,
                          .is_target = rank == TARGET,
                          .holder = TARGET,
                          .target = TARGET,
                          .windows = 1,
                          .spare = SPARE_ELEMENTS};
}

/* Collective: are such slots possible? The record says why not. */
static bool is_supported(const struct slots *slots)
{
    if (slots->size_bytes != slots->elements * (double)sizeof(int64_t) && slots->size_bytes > 0) {
        record_status(slots->record, CELL_UNSUPPORTED, "size_bytes is %.0f, no multiple of 8",
                      slots->size_bytes);
        return false;
    }
    return has_ghost(slots) ? ghost_is_supported(slots->target, slots->holder, slots->record)
                            : window_is_supported(slots->launch, slots->flavor, slots->record);
}

/* ---- Their windows ---- */

static const struct reduction *reduction_of(const struct operation *makes)
{
    return &reductions[makes->effect == ADDS ? SUM : makes->effect == REPLACES ? REPLACE : NO_OP];
}

static bool has_gaps(const struct slots *slots)
{
    return slots->stride_bytes > (int)slots->element->bytes;
}

/* An element with a gap after it is a struct. */
static struct layout_type make_type(const struct slots *slots)
{
    struct layout_type type = {.type = slots->element->handle, .count = slots->elements};
    if (slots->layout != NULL) {
        return layout_make_type(slots->layout, slots->elements);
    }
    if (has_gaps(slots)) {
        const size_t elements = (size_t)slots->elements;
        int *lengths = allocate(elements, sizeof lengths[0]);
        MPI_Aint *places = allocate(elements, sizeof places[0]);
        MPI_Datatype *types = allocate(elements, sizeof types[0]);
        for (int i = 0; i < slots->elements; i++) {
            lengths[i] = 1;
            places[i] = (MPI_Aint)i * slots->stride_bytes;
            types[i] = slots->element->handle;
        }
        type.count = 1;
        CHECKED(MPI_Type_create_struct(slots->elements, lengths, places, types, &type.type));
        CHECKED(MPI_Type_commit(&type.type));
        free(lengths);
        free(places);
        free(types);
    }
    return type;
}

static void free_type(struct slots *slots)
{
    if (slots->layout != NULL) {
        layout_free_type(&slots->type);
    } else if (has_gaps(slots)) {
        CHECKED(MPI_Type_free(&slots->type.type));
    }
}

/* Each part has pages of its own, so no two origins share a cache line. */
static void allocate_regions(struct slots *slots)
{
    const size_t elements = (size_t)all_elements(slots);
    const size_t bytes = elements * (size_t)slots->stride_bytes;
    slots->region = allocate((size_t)slots->origins, sizeof slots->region[0]);
    for (int region = known_begin(slots); region < known_end(slots); region++) {
        slots->region[region].model = allocate_pages(elements * WORD_BYTES);
    }
    for (int region = slots->begin; region < slots->end; region++) {
        struct region *own = &slots->region[region];
        own->sent = allocate_pages(bytes);
        own->result = allocate_pages(bytes);
        own->compared = allocate_pages(bytes);
        own->copy = allocate_pages(region_bytes(slots));
    }
}

static void free_regions(struct slots *slots)
{
    for (int region = 0; region < slots->origins; region++) {
        free(slots->region[region].model);
        free(slots->region[region].sent);
        free(slots->region[region].result);
        free(slots->region[region].compared);
        free(slots->region[region].copy);
    }
    free(slots->region);
}

static MPI_Info make_info(const struct slots *slots)
{
    MPI_Info info = MPI_INFO_NULL;
    if (slots->info_key != NULL) {
        CHECKED(MPI_Info_create(&info));
        CHECKED(MPI_Info_set(info, slots->info_key, slots->info_value));
    }
    return info;
}

static void open_windows(struct slots *slots)
{
    MPI_Info info = make_info(slots);
    const int regions = slots->windows == 1 ? regions_there(slots) : 1;
    const MPI_Aint bytes = regions * (MPI_Aint)region_bytes(slots) + slots->more_bytes;
    const MPI_Aint own_bytes = slots->is_target ? bytes : slots->own_bytes;
    slots->window = allocate((size_t)slots->windows, sizeof slots->window[0]);
    for (int i = 0; i < slots->windows; i++) {
        slots->window[i] = has_ghost(slots)
                               ? ghost_open(slots->launch, slots->target, slots->holder, bytes)
                               : window_open_with(slots->launch, slots->flavor, own_bytes, info);
    }
    if (info != MPI_INFO_NULL) {
        CHECKED(MPI_Info_free(&info));
    }
    record_window(slots->record, slots->window->handle, slots->flavor->name, bytes);
}

/* If rank 0 posts: rank 0's peers are all origins; an origin's peer is rank 0. */
static MPI_Group make_peers(const struct slots *slots)
{
    MPI_Group all, peers = MPI_GROUP_NULL;
    if (slots->posts) {
        CHECKED(MPI_Comm_group(world_communicator, &all));
        if (slots->is_target) {
            CHECKED(MPI_Group_excl(all, 1, &slots->target, &peers));
        } else {
            CHECKED(MPI_Group_incl(all, 1, &slots->target, &peers));
        }
        CHECKED(MPI_Group_free(&all));
    }
    return peers;
}

/* Set the transfer to this rank's first region; a rank without a region gets the first of all. */
static void find_region(struct slots *slots)
{
    const int region = slots->begin < slots->end ? slots->begin : 0;
    const struct epoch epoch = {.target = slots->holder, .peers = make_peers(slots)};
    slots->transfer = slots_transfer(slots, region, epoch);
    if (slots->flavor == &flavors[FLAVOR_SHARED] && !has_ghost(slots) && !slots->is_target) {
        MPI_Aint size_bytes = 0;
        int unit = 0;
        char *memory = NULL;
        CHECKED(MPI_Win_shared_query(slots->window->handle, slots->target, &size_bytes, &unit,
                                     &memory));
        slots->shared = (int64_t *)(void *)(memory + slots->transfer.displacement);
    }
}

bool slots_open(struct slots *slots)
{
    expect_stage(slots, DESCRIBED, "slots_open");
    watchdog_phase = "window";
    if (!is_supported(slots)) {
        return false;
    }
    slots->end = slots->end > slots->origins ? slots->origins : slots->end;
    slots->reduces = slots->reduces == NULL ? reduction_of(slots->makes) : slots->reduces;
    strcpy(slots->at_target.name, "at_target");
    strcpy(slots->in_gaps.name, "in_gaps");
    strcpy(slots->at_origin.name, "at_origin");
    strcpy(slots->read_back.name, "read_back");
    allocate_regions(slots);
    values_begin(slots);
    slots->type = make_type(slots);
    open_windows(slots);
    find_region(slots);
    if (slots->is_target) {
        values_initialise(slots);
    }
    CHECKED(MPI_Barrier(world_communicator));
    for (int i = 0; slots->holds_lock_all && i < slots->windows; i++) {
        window_hold(&slots->window[i]);
    }
    slots->stage = OPEN;
    return true;
}

static void record_verifications(const struct slots *slots)
{
    if (slots->sample == 0) {
        return;
    }
    record_verification(slots->record, slots->at_target);
    if (slots->spare > 0 || slots->layout != NULL) {
        record_verification(slots->record, slots->in_gaps);
    }
    if (slots->makes->fetches || slots->compare != NULL) {
        record_verification(slots->record, slots->at_origin);
    }
    if (slots->read_back.checked > 0) {
        record_verification(slots->record, slots->read_back);
    }
}

void slots_close(struct slots *slots)
{
    expect_stage(slots, OPEN, "slots_close");
    watchdog_phase = "window";
    record_verifications(slots);
    for (int i = 0; i < slots->windows; i++) {
        window_close(&slots->window[i]);
    }
    free(slots->window);
    if (slots->posts) {
        CHECKED(MPI_Group_free(&slots->transfer.epoch.peers));
    }
    free_type(slots);
    free_regions(slots);
    slots->stage = DESCRIBED;
}

struct transfer slots_transfer(const struct slots *slots, int region, struct epoch epoch)
{
    const struct window *window = window_of(slots, region);
    const struct region *own = &slots->region[region];
    epoch.window = window->handle;
    return (struct transfer){.epoch = epoch,
                             .displacement = window->begins[epoch.target] +
                                             (MPI_Aint)region_begin(slots, region),
                             .slot_bytes = (MPI_Aint)slot_bytes(slots),
                             .type = slots->type,
                             .elements = slots->elements,
                             .payload = own->sent,
                             .result = own->result,
                             .compared = own->compared,
                             .request = MPI_REQUEST_NULL};
}

/* ---- Their trial ---- */

static double go(void *state, long long burst)
{
    struct slots *slots = state;
    double passed_s = 0;
    if (!slots->is_target) {
        const double begin_s = clock_now_s();
        slots->loop(slots, burst);
        passed_s = clock_now_s() - begin_s;
    }
    return passed_s;
}

struct trial slots_trial(struct slots *slots, const char *time, bool computes)
{
    expect_stage(slots, OPEN, "slots_trial");
    return (struct trial){.launch = slots->launch,
                          .cell = slots->cell,
                          .record = slots->record,
                          .state = slots,
                          .longest = slots->count,
                          .prepare = slots_prepare,
                          .go = go,
                          .check = slots_check,
                          .time = time,
                          .meets = computes,
                          .part = slots->is_target ? COMPUTES : ACCESSES};
}

void slots_run(struct slots *slots, const char *time, bool computes)
{
    if (slots_open(slots)) {
        const struct trial trial = slots_trial(slots, time, computes);
        trial_run(&trial);
        slots_close(slots);
    }
}

bool is_unified(const struct slots *slots)
{
    const char *model = slots->record->window.model;
    const bool is_own = model != NULL && strcmp(model, "unified") == 0;
    const bool is_all = world_greatest(!is_own) == 0;
    if (!is_all) {
        record_status(slots->record, CELL_UNSUPPORTED,
                      "MPI_WIN_MODEL is %s, the idiom needs MPI_WIN_UNIFIED",
                      is_own          ? "another at another rank"
                      : model == NULL ? "not known"
                                      : "MPI_WIN_SEPARATE");
    }
    return is_all;
}
