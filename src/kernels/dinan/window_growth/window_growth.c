/* Window growth: what does it take to double the memory that a window has?
 *
 * Source: James Dinan, Pavan Balaji, Darius Buntinas, David Goodell, William Gropp, Rajeev Thakur,
 * "An implementation and evaluation of the MPI 3.0 one-sided communication interface", section 5.5.
 * In MPI-2 the program makes a window of twice the size, copies the content, and frees the old
 * window. With a dynamic window the program attaches another buffer. Timed, in seconds, at each
 * rank: the growth and its parts; separately the exchange of the buffers' addresses, the detach of
 * a buffer, and the end of the grown window. Rank 0 may compute before its part. Verified: each
 * rank puts to the whole new part of its right neighbour, and gets the end of the old part; every
 * element of both parts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dinan/window_growth/growth.h"
#include "harness/memory.h"
#include "harness/watchdog.h"
#include "mpi/trial.h"
#include "rma/computing.h"

static const char *const part_names[PARTS] = {"grow",     "make",   "copy", "free",
                                              "exchange", "detach", "close"};

/* ---- THE TIMED PARTS ---- */

static void create(struct window *window)
{
    CHECKED(MPI_Win_create(window->memory, window->size_bytes, 1, MPI_INFO_NULL, world_communicator,
                           &window->handle));
}

static void recreate(struct growth *growth)
{
    struct window old = growth->window;
    struct window grown = old;
    grown.memory = growth->more;
    grown.size_bytes = 2 * growth->bytes;
    const double begin_s = clock_now_s();
    if (growth->method->owns_memory) {
        create(&grown);
    } else {
        grown.flavor->open(&grown, world_communicator);
    }
    CHECKED(MPI_Win_set_errhandler(grown.handle, MPI_ERRORS_RETURN));
    const double made_s = clock_now_s();
    window_begin_own(&old, MPI_LOCK_EXCLUSIVE);
    window_begin_own(&grown, MPI_LOCK_EXCLUSIVE);
    if (!options_flag(&growth->launch->options, "without-copy")) {
        memcpy(grown.memory, old.memory, (size_t)growth->bytes);
    }
    window_end_own(&grown);
    window_end_own(&old);
    const double copied_s = clock_now_s();
    CHECKED(MPI_Win_free(&old.handle));
    const double end_s = clock_now_s();
    growth->part_s[MAKE] = made_s - begin_s;
    growth->part_s[COPY] = copied_s - made_s;
    growth->part_s[FREE] = end_s - copied_s;
    growth->part_s[GROW] = end_s - begin_s;
    growth->window = grown;
}

/* First attach another buffer, untimed: the writes before have removed the code of these calls from
 * the caches. */
static void attach(struct growth *growth)
{
    static int64_t other;
    CHECKED(MPI_Win_attach(growth->window.handle, &other, sizeof other));
    CHECKED(MPI_Win_detach(growth->window.handle, &other));
    const double begin_s = clock_now_s();
    CHECKED(MPI_Win_attach(growth->window.handle, growth->more, growth->bytes));
    const double end_s = clock_now_s();
    growth->part_s[GROW] = end_s - begin_s;
}

static void exchange_addresses(struct growth *growth)
{
    MPI_Aint own;
    const double begin_s = clock_now_s();
    CHECKED(MPI_Get_address(growth->more, &own));
    CHECKED(MPI_Allgather(&own, 1, MPI_AINT, growth->more_begins, 1, MPI_AINT, world_communicator));
    growth->part_s[EXCHANGE] = clock_now_s() - begin_s;
}

static void end(struct growth *growth)
{
    double begin_s = clock_now_s();
    if (growth->method->attaches) {
        CHECKED(MPI_Win_detach(growth->window.handle, growth->more));
        growth->part_s[DETACH] = clock_now_s() - begin_s;
        CHECKED(MPI_Win_detach(growth->window.handle, growth->before));
        CHECKED(MPI_Barrier(world_communicator));
        begin_s = clock_now_s();
    }
    CHECKED(MPI_Win_free(&growth->window.handle));
    growth->part_s[CLOSE] = clock_now_s() - begin_s;
}

static const struct method methods[] = {
    {"create", FLAVOR_CREATE, true, false},
    {"allocate", FLAVOR_ALLOCATE, false, false},
    {"allocate_shared", FLAVOR_SHARED, false, false},
    {"attach", FLAVOR_DYNAMIC, true, true},
};

static const struct axis axes[] = {
    CHOICE_AXIS("method",
                "a window is re-created by this call, or a buffer is attached to a dynamic one",
                "create,allocate,allocate_shared,attach", methods),
    INTEGER_AXIS("size_bytes", "of each rank's part before it is doubled, a multiple of 8",
                 "1024,262144", 8, 1 << 28),
    IDLE_OR_COMPUTES_AXIS,
};

static const struct option options[] = {
    TRIAL_OPTIONS("1", "5", "10"),
    MEETING_OPTIONS,
    {"without-copy", NULL, "for tests: the content is not copied", OPTION_FLAG, NULL, 0, 0},
    {"old-address", NULL, "for tests: the new part is taken to be where the old one is",
     OPTION_FLAG, NULL, 0, 0},
};

/* ---- Samples ---- */

static double go(void *state, long long burst)
{
    struct growth *growth = state;
    (void)burst;
    (growth->method->attaches ? attach : recreate)(growth);
    return growth->part_s[GROW];
}

static void prepare(void *state, long long burst)
{
    (void)burst;
    content_open(state);
}

static void check(void *state, long long burst)
{
    struct growth *growth = state;
    (void)burst;
    if (growth->method->attaches) {
        exchange_addresses(growth);
    }
    content_verify(growth);
    watchdog_phase = "end";
    CHECKED(MPI_Barrier(world_communicator));
    end(growth);
    content_close(growth);
}

static void keep(void *state, long long burst)
{
    struct growth *growth = state;
    for (enum part part = 0; part < PARTS; part++) {
        if (!isnan(growth->part_s[part])) {
            series_keep(growth->record, &growth->series[part], part_names[part], "s", burst,
                        growth->part_s[part]);
        }
    }
}

static void take(struct growth *growth)
{
    struct launch *launch = growth->launch;
    const struct target_state *state = cell_choice(growth->cell, "target_state");
    const struct trial trial = {.launch = launch,
                                .cell = growth->cell,
                                .record = growth->record,
                                .state = growth,
                                .longest = 1,
                                .prepare = prepare,
                                .go = go,
                                .check = check,
                                .keep = keep,
                                .meets = state->computes,
                                .part = launch->rank == 0 ? COMPUTES : ACCESSES,
                                .is_behind = !growth->method->attaches};
    trial_run(&trial);
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    struct growth growth = {.launch = launch,
                            .cell = cell,
                            .record = record,
                            .method = cell_choice(cell, "method"),
                            .bytes = (MPI_Aint)cell_number(cell, "size_bytes"),
                            .old_part = {.name = "old_part"},
                            .new_part = {.name = "new_part"},
                            .at_origin = {.name = "at_origin"}};
    watchdog_phase = "window";
    if (!growth_is_supported(launch, cell, record)) {
        return;
    }
    growth.more_begins = allocate((size_t)launch->ranks, sizeof growth.more_begins[0]);
    growth.sent = allocate_pages((size_t)growth.bytes);
    take(&growth);
    record_verification(record, growth.old_part);
    record_verification(record, growth.new_part);
    record_verification(record, growth.at_origin);
    free(growth.more_begins);
    free(growth.sent);
}

KERNEL("window_growth", "time to double the memory of a window", .run_cell = run_cell)
