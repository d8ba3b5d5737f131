/* The part of rank 0's window that only rank 0 itself reads and writes. */
#include "dinan/memory_model/own_part.h"

#include <math.h>

#include "mpi/checked.h"
#include "mpi/world.h"

#define ELEMENTS 4096
#define BYTES (ELEMENTS * (MPI_Aint)sizeof(int64_t))
#define APART_BYTES 4096 /* on pages that no other rank writes to */
#define CALIBRATIONS 5
#define CALIBRATION_PASSES 100

MPI_Aint own_part_bytes(void)
{
    return BYTES + APART_BYTES;
}

static int64_t first(int element)
{
    return value_of_sample(0, (size_t)element);
}

/* Each pass adds another number to each element, so that a lost store is noticed. */
static struct compute_sample make_passes(struct own_part *part, long passes)
{
    struct compute_sample sample = {.begin_s = clock_now_s()};
    window_begin_own(part->window, part->lock_type);
    for (long pass = 0; pass < passes; pass++) {
        for (int i = 0; i < ELEMENTS; i++) {
            part->memory[i] = part->memory[i] + i + 1;
        }
    }
    window_end_own(part->window);
    sample.end_s = clock_now_s();
    part->passes += passes;
    return sample;
}

void own_part_open(struct own_part *part, struct window *window, int lock_type)
{
    const MPI_Aint begin = (window->size_bytes - BYTES) / APART_BYTES * APART_BYTES;
    *part = (struct own_part){.window = window,
                              .lock_type = lock_type,
                              .memory = (int64_t *)((char *)window->memory + begin),
                              .pass_s = INFINITY};
    window_begin_own(window, lock_type);
    for (int i = 0; i < ELEMENTS; i++) {
        part->memory[i] = first(i);
    }
    window_end_own(window);
    for (int i = 0; i < CALIBRATIONS; i++) {
        const struct compute_sample sample = make_passes(part, CALIBRATION_PASSES);
        part->pass_s = fmin(part->pass_s, (sample.end_s - sample.begin_s) / CALIBRATION_PASSES);
    }
}

struct compute_sample own_part_access(struct own_part *part, double length_s)
{
    return make_passes(part, lround(length_s / part->pass_s));
}

struct own_epochs own_part_access_until(struct own_part *part, double length_s, long long most)
{
    struct own_epochs epochs = {0};
    MPI_Request others;
    double sum_s = 0;
    int are_there = 0;
    CHECKED(MPI_Ibarrier(world_communicator, &others));
    while (!are_there && epochs.count < most) {
        const struct compute_sample sample = own_part_access(part, length_s);
        sum_s += sample.end_s - sample.begin_s;
        epochs.count++;
        CHECKED(MPI_Test(&others, &are_there, MPI_STATUS_IGNORE));
    }
    epochs.mean_s = sum_s / (double)epochs.count;
    epochs.is_cut = !are_there;
    CHECKED(MPI_Wait(&others, MPI_STATUS_IGNORE));
    return epochs;
}

void own_part_end_epochs(void)
{
    MPI_Request all;
    CHECKED(MPI_Ibarrier(world_communicator, &all));
    CHECKED(MPI_Wait(&all, MPI_STATUS_IGNORE));
}

struct verification own_part_check(struct own_part *part, bool loses)
{
    struct verification found = {.name = "own_part"};
    window_begin_own(part->window, part->lock_type);
    if (loses) {
        part->memory[ELEMENTS - 1] -= ELEMENTS;
    }
    for (int i = 0; i < ELEMENTS; i++) {
        verify_element(&found, part->memory[i], first(i) + part->passes * (i + 1), (size_t)i, 0);
    }
    window_end_own(part->window);
    return found;
}
