/* The memory of a pattern with MPI: a window, or plain memory for the rival. */
#include <stdlib.h>

#include "harness/memory.h"
#include "luecke/shared/pattern.h"

static size_t data_bytes(const struct pattern *pattern)
{
    return (size_t)pattern->blocks * (size_t)pattern->elements * sizeof pattern->data[0];
}

static bool has_window(const struct pattern *pattern)
{
    return pattern->interface->kind != RIVAL;
}

static bool open_window(struct pattern *pattern)
{
    const struct flavor *flavor = cell_choice(pattern->cell, "flavor");
    const MPI_Aint size_bytes = NOTICE_BYTES + (MPI_Aint)data_bytes(pattern);
    struct window *window = &pattern->others->window;
    if (!window_is_supported(pattern->launch, flavor, pattern->record)) {
        return false;
    }
    *window = window_open(pattern->launch, flavor, size_bytes);
    record_window(pattern->record, window->handle, flavor->name, (long long)size_bytes);
    pattern->data = (int64_t *)((char *)window->memory + NOTICE_BYTES);
    window_begin_own(window, MPI_LOCK_EXCLUSIVE);
    *(uint64_t *)window->memory = 0;
    window_end_own(window);
    CHECKED(MPI_Barrier(world_communicator));
    if (pattern->interface->kind == MPI3) {
        window_hold(window);
    }
    return true;
}

bool others_open(struct pattern *pattern)
{
    pattern->others = allocate(1, sizeof *pattern->others);
    if (!has_window(pattern)) {
        pattern->data = allocate_pages(data_bytes(pattern));
    } else if (!open_window(pattern)) {
        free(pattern->others);
        return false;
    }
    pattern->result = pattern->kind->in_place ? pattern->data : allocate_pages(data_bytes(pattern));
    return true;
}

void others_close(struct pattern *pattern)
{
    if (!pattern->kind->in_place) {
        free(pattern->result);
    }
    if (!has_window(pattern)) {
        free(pattern->data);
    } else {
        window_close(&pattern->others->window);
    }
    free(pattern->others);
}

void others_begin_own(struct pattern *pattern)
{
    window_begin_between(&pattern->others->window);
}

void others_end_own(struct pattern *pattern)
{
    window_end_between(&pattern->others->window);
}

void others_begin_trial(struct pattern *pattern)
{
    if (pattern->interface->kind == MPI2) {
        CHECKED(MPI_Win_fence(MPI_MODE_NOPRECEDE, pattern->others->window.handle));
    } else if (pattern->interface->kind == MPI2_PAIRWISE) {
        /* this rank's stores are in its window after the unlock */
        window_begin_own(&pattern->others->window, MPI_LOCK_EXCLUSIVE);
        window_end_own(&pattern->others->window);
    }
}
