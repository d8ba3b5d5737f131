/* An operation with more bytes than an int counts: each element is verified without a model. */
#include "data/conformance/large.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/conformance/call.h"
#include "harness/memory.h"
#include "harness/world.h"
#include "mpi/checked.h"

#define SHARE_OF_MEMORY 0.8

bool is_large(const struct plan *plan)
{
    return plan->elements * (long long)plan->element->bytes >= LARGE_BYTES;
}

/* Bytes of memory that are free on the machine, for all ranks together; 0: not known. */
static double available_bytes(void)
{
    char line[128];
    long long kilobytes = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "MemAvailable: %lld kB", &kilobytes) == 1) {
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return 1024.0 * (double)kilobytes;
}

static bool has_room(const struct plan *plan, struct record *record)
{
    /* a window at the target, a buffer at the origin */
    const double needed = 2.0 * (double)plan->elements * (double)plan->element->bytes;
    double available = available_bytes();
    world_broadcast(&available, sizeof available);
    if (needed > SHARE_OF_MEMORY * available) {
        record_status(record, CELL_UNSUPPORTED, "needs %.1f GB of memory, of which %.1f are free",
                      1e-9 * needed, 1e-9 * available);
        return false;
    }
    return true;
}

static bool is_plain(const struct plan *plan, struct record *record)
{
    const bool is_put_or_get = plan->call->sends != plan->call->fetches && !plan->call->reduces;
    const bool is_whole =
        plan->element->bytes == sizeof(uint64_t) && is_allowed(plan->element, BAND);
    if (is_put_or_get && is_whole && plan->origin.shape == layouts[0].shape &&
        plan->target.shape == layouts[0].shape && plan->outstanding == 1 &&
        plan->call->has_request == false) {
        return true;
    }
    record_status(record, CELL_UNSUPPORTED,
                  "so many bytes are tried with one put or get of plain integers of 64 bits");
    return false;
}

static void fill(uint64_t *elements, long long count, uint64_t seed)
{
    for (long long i = 0; i < count; i++) {
        elements[i] = mixed(seed, (uint64_t)i);
    }
}

static void compare(struct verification *result, const uint64_t *elements, long long count,
                    uint64_t seed)
{
    result->checked += count * (long long)sizeof elements[0];
    for (long long i = 0; i < count; i++) {
        const uint64_t expected = mixed(seed, (uint64_t)i);
        if (elements[i] != expected && result->errors++ == 0) {
            snprintf(result->first_mismatch, sizeof result->first_mismatch,
                     "element %lld: found %" PRIx64 ", expected %" PRIx64, i, elements[i],
                     expected);
        }
    }
}

/* The origin's epoch; returns the seconds of the operation. */
static double access_target(const struct plan *plan, const struct window *window, uint64_t *buffer)
{
    const int count = (int)plan->elements;
    const struct arguments arguments = {.origin = buffer,
                                        .result = buffer,
                                        .origin_count = count,
                                        .result_count = count,
                                        .origin_type = plan->element->handle,
                                        .result_type = plan->element->handle,
                                        .target = plan->target_rank,
                                        .displacement = window->begins[plan->target_rank],
                                        .target_count = count,
                                        .target_type = plan->element->handle,
                                        .window = window->handle};
    CHECKED(MPI_Win_lock(MPI_LOCK_SHARED, plan->target_rank, 0, window->handle));
    const double begin_s = clock_now_s();
    plan->call->make(&arguments);
    CHECKED(MPI_Win_unlock(plan->target_rank, window->handle));
    return clock_now_s() - begin_s;
}

void large_run(const struct plan *plan, struct record *record)
{
    const int rank = plan->launch->rank;
    const bool is_target = rank == plan->target_rank, accesses = rank == plan->origin_rank;
    const size_t bytes = (size_t)plan->elements * plan->element->bytes;
    struct verification result = {0};
    strcpy(result.name, plan->call->sends ? "window" : "result");
    if (!is_plain(plan, record) || !has_room(plan, record)) {
        return;
    }
    struct window window = window_open(plan->launch, plan->flavor, is_target ? (MPI_Aint)bytes : 0);
    uint64_t *buffer = accesses ? allocate(1, bytes) : NULL;
    record_window(record, window.handle, plan->flavor->name, (long long)bytes);
    if (is_target) {
        window_begin_own(&window, MPI_LOCK_SHARED);
        fill(window.memory, plan->elements, plan->seed);
        window_end_own(&window);
    }
    if (accesses) {
        fill(buffer, plan->elements, plan->seed + 1);
    }
    world_barrier();
    watchdog_phase = "access";
    if (accesses) {
        series_add(record_series(record, "time", "s", 1), access_target(plan, &window, buffer));
    }
    world_barrier();
    watchdog_phase = "verify";
    if (accesses && plan->call->fetches) {
        compare(&result, buffer, plan->elements, plan->seed);
    }
    if (is_target && plan->call->sends) {
        window_begin_own(&window, MPI_LOCK_SHARED);
        compare(&result, window.memory, plan->elements, plan->seed + 1);
        window_end_own(&window);
    }
    if (result.checked > 0) {
        record_verification(record, result);
    }
    window_close(&window);
    free(buffer);
}
