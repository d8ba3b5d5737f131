/* Places of overlapping puts in rank 0's window, and a cell's samples. */
#include "redbook/put_ordering/places.h"

#include <stdlib.h>

#include "harness/memory.h"
#include "harness/watchdog.h"
#include "mpi/checked.h"

#define BLOCKS 4 /* of a put */
#define BURST_BYTES (1 << 20)

/* Put i of a burst goes to one of the first d even places of a group, or to an odd place. */
static long long place_of_put(long long i, long long distance)
{
    const long long group = i / (2 * distance), turn = i % (2 * distance);
    const long long within = turn < distance ? 2 * turn : 2 * (turn - distance) + 1;
    return group * 2 * distance + within;
}

static void choose_places(struct places *places, long long burst)
{
    for (long long place = -1; place <= places->count; place++) {
        places->put_at[place] = NO_PUT;
    }
    for (long long i = 0; i < burst; i++) {
        places->place_of[i] = place_of_put(i, places->distance);
    }
}

static void prepare(void *state, long long burst)
{
    struct places *places = state;
    places->number++;
    choose_places(places, burst);
    if (places->launch->rank != TARGET) {
        for (long long i = 0; i < burst * places->elements; i++) {
            places->payload[i] = value_of(places, places->launch->rank, places->number,
                                          i / places->elements, i % places->elements);
        }
        return;
    }
    window_begin_own(&places->window, MPI_LOCK_SHARED);
    const long long all = (places->launch->ranks - 1) * region_elements_of(places);
    for (long long i = 0; i < all; i++) {
        ((int64_t *)places->window.memory)[i] = NOTHING;
    }
    window_end_own(&places->window);
}

/* At rank 0: receive messages one after the other, at the places of puts. */
static void receive(struct places *places, long long burst)
{
    window_begin_own(&places->window, MPI_LOCK_SHARED);
    for (int origin = 1; origin < places->launch->ranks; origin++) {
        for (long long i = 0; i < burst; i++) {
            CHECKED(MPI_Recv(region_of(places, origin) + places->place_of[i] * places->stride,
                             places->elements, MPI_INT64_T, origin, 0, world_communicator,
                             MPI_STATUS_IGNORE));
        }
        CHECKED(MPI_Send(NULL, 0, MPI_BYTE, origin, 1, world_communicator));
    }
    window_end_own(&places->window);
}

static double go(void *state, long long burst)
{
    struct places *places = state;
    if (places->launch->rank == TARGET) {
        if (places->idiom->is_two_sided) {
            receive(places, burst);
        }
        return 0;
    }
    const double begin_s = clock_now_s();
    places->idiom->go(places, burst);
    return clock_now_s() - begin_s;
}

static void keep(void *state, long long burst)
{
    struct places *places = state;
    if (places->launch->rank == TARGET && places->overlapped > 0) {
        series_keep(places->record, &places->older_series, "older", "1", burst,
                    places->older / places->overlapped);
    }
}

static void open_window(struct places *places)
{
    const struct flavor *flavor = cell_choice(places->cell, "flavor");
    const bool is_target = places->launch->rank == TARGET;
    const MPI_Aint bytes = (MPI_Aint)sizeof(int64_t) * (places->launch->ranks - 1) *
                           (MPI_Aint)region_elements_of(places);
    MPI_Info info = MPI_INFO_NULL;
    if (places->idiom->is_unordered) {
        CHECKED(MPI_Info_create(&info));
        CHECKED(MPI_Info_set(info, "accumulate_ordering", "none"));
    }
    flavor = flavor == NULL ? &flavors[FLAVOR_ALLOCATE] : flavor;
    places->window = window_open_with(places->launch, flavor, is_target ? bytes : 0, info);
    record_window(places->record, places->window.handle, flavor->name, (long long)bytes);
    if (places->idiom->is_unordered) {
        CHECKED(MPI_Info_free(&info));
    }
    window_hold(&places->window);
}

static void take_samples(struct places *places)
{
    const struct trial trial = {.launch = places->launch,
                                .cell = places->cell,
                                .record = places->record,
                                .state = places,
                                .longest = places->slots,
                                .prepare = prepare,
                                .go = go,
                                .check = places_check,
                                .time = "time",
                                .keep = keep};
    trial_run(&trial);
    record_verification(places->record, places->found);
}

void places_run(struct launch *launch, const struct cell *cell, struct record *record,
                const struct idiom *idiom)
{
    const long long size_bytes = (long long)cell_number(cell, "size_bytes");
    const long long longest = options_integer(&launch->options, "burst");
    const long long elements = size_bytes / (long long)sizeof(int64_t),
                    held = BURST_BYTES / size_bytes;
    struct places places = {.launch = launch,
                            .cell = cell,
                            .record = record,
                            .idiom = idiom,
                            .elements = (int)elements,
                            .stride = idiom->is_disjoint ? elements : elements - elements / BLOCKS,
                            .distance =
                                idiom->is_disjoint ? 1 : (long long)cell_number(cell, "distance"),
                            .slots = held < 2         ? 2
                                     : held < longest ? held
                                                      : longest,
                            .found = {.name = "block"}};
    if (elements % BLOCKS != 0 || size_bytes % (long long)sizeof(int64_t) != 0) {
        record_status(record, CELL_UNSUPPORTED, "size_bytes is %lld, no multiple of 32",
                      size_bytes);
        return;
    }
    watchdog_phase = "window";
    const long long group = 2 * places.distance;
    places.count = (places.slots + group - 1) / group * group;
    long long *put_at = allocate((size_t)places.count + 2, sizeof put_at[0]);
    places.put_at = put_at + 1;
    places.place_of = allocate((size_t)places.slots, sizeof places.place_of[0]);
    places.payload = allocate((size_t)(places.slots * elements), sizeof places.payload[0]);
    open_window(&places);
    take_samples(&places);
    watchdog_phase = "window";
    window_close(&places.window);
    free(put_at);
    free(places.place_of);
    free(places.payload);
}
