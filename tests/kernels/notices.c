/* A kernel for tests: rank 1 puts elements into rank 0's window and gives notice of them; rank 0
 * waits for the notice, reads the elements, and gives notice that they may be overwritten. Without
 * the flush before a notice, or with a wait that makes no progress, elements are wrong or it hangs.
 */
#include <string.h>

#include "harness/cache.h"
#include "harness/memory.h"
#include "harness/watchdog.h"
#include "mpi/checked.h"
#include "mpi/world.h"
#include "rma/notice.h"

#define ELEMENTS 64
#define ROUNDS 200

static const struct axis axes[] = {FLAVOR_AXIS("create,allocate,shared,dynamic")};

/* In each rank's part: a notice, then the elements. */
static MPI_Aint displacement_of(const struct window *window, int rank, int word)
{
    return window->begins[rank] + word * (MPI_Aint)sizeof(int64_t);
}

static struct verification take_rounds(struct window *window, int rank)
{
    struct verification found = {.name = "elements"};
    int64_t payload[ELEMENTS];
    const struct notice mine = {window->handle, rank, displacement_of(window, rank, 0)};
    const struct notice others = {window->handle, 1 - rank, displacement_of(window, 1 - rank, 0)};
    const int64_t *elements = (const int64_t *)window->memory + 1;
    for (int round = 1; round <= ROUNDS; round++) {
        if (rank == 1) {
            for (int i = 0; i < ELEMENTS; i++) {
                payload[i] = value_of_sample((uint64_t)round, (size_t)i);
            }
            CHECKED(MPI_Put(payload, ELEMENTS, MPI_INT64_T, 0, displacement_of(window, 0, 1),
                            ELEMENTS, MPI_INT64_T, window->handle));
            notice_give(&others, (uint64_t)round);
            notice_await(&mine, (uint64_t)round);
        } else {
            notice_await(&mine, (uint64_t)round);
            window_begin_own(window, MPI_LOCK_SHARED);
            for (size_t i = 0; i < ELEMENTS; i++) {
                verify_element(&found, elements[i], value_of_sample((uint64_t)round, i), i,
                               (uint64_t)round);
            }
            window_end_own(window);
            notice_give(&others, (uint64_t)round);
        }
    }
    return found;
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct flavor *flavor = cell_choice(cell, "flavor");
    if (!window_is_supported(launch, flavor, record)) {
        return;
    }
    watchdog_phase = "notices";
    struct window window = window_open(launch, flavor, (1 + ELEMENTS) * (MPI_Aint)sizeof(int64_t));
    window_begin_own(&window, MPI_LOCK_EXCLUSIVE);
    memset(window.memory, 0, (1 + ELEMENTS) * sizeof(int64_t));
    window_end_own(&window);
    CHECKED(MPI_Barrier(world_communicator));
    flush_caches(largest_cache_bytes());
    CHECKED(MPI_Win_lock_all(0, window.handle));
    window.is_locked = true;
    const struct verification found = take_rounds(&window, launch->rank);
    window.is_locked = false;
    CHECKED(MPI_Win_unlock_all(window.handle));
    CHECKED(MPI_Barrier(world_communicator));
    record_verification(record, found);
    window_close(&window);
}

int main(int argument_count, char **arguments)
{
    static const struct kernel kernel = {.name = "notices",
                                         .summary = "for tests: elements that a notice speaks of",
                                         .axes = axes,
                                         .axis_count = sizeof axes / sizeof axes[0],
                                         .run_cell = run_cell};
    return launch_run(&kernel, argument_count, arguments);
}
