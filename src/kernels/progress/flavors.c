/* Flavors: where the window's memory comes from. */
#include <stdlib.h>

#include "harness/memory.h"
#include "harness/watchdog.h"
#include "progress/experiment.h"

static void create_window(struct experiment *experiment, MPI_Aint size_bytes)
{
    experiment->memory = allocate_pages((size_t)size_bytes);
    CHECKED(MPI_Win_create(experiment->memory, size_bytes, 1, MPI_INFO_NULL,
                           experiment->launch->communicator, &experiment->window));
}

static void allocate_window(struct experiment *experiment, MPI_Aint size_bytes)
{
    CHECKED(MPI_Win_allocate(size_bytes, 1, MPI_INFO_NULL, experiment->launch->communicator,
                             &experiment->memory, &experiment->window));
}

static void allocate_shared_window(struct experiment *experiment, MPI_Aint size_bytes)
{
    CHECKED(MPI_Win_allocate_shared(size_bytes, 1, MPI_INFO_NULL, experiment->launch->communicator,
                                    &experiment->memory, &experiment->window));
}

/* A dynamic window's displacements are the target's own addresses. */
static void create_dynamic_window(struct experiment *experiment, MPI_Aint size_bytes)
{
    const MPI_Comm communicator = experiment->launch->communicator;
    CHECKED(MPI_Win_create_dynamic(MPI_INFO_NULL, communicator, &experiment->window));
    CHECKED(MPI_Win_set_errhandler(experiment->window, MPI_ERRORS_RETURN));
    if (experiment->is_target) {
        experiment->memory = allocate_pages((size_t)size_bytes);
        CHECKED(MPI_Win_attach(experiment->window, experiment->memory, size_bytes));
        CHECKED(MPI_Get_address(experiment->memory, &experiment->displacement));
    }
    CHECKED(MPI_Bcast(&experiment->displacement, 1, MPI_AINT, experiment->target, communicator));
}

static void free_window(struct experiment *experiment)
{
    CHECKED(MPI_Win_free(&experiment->window));
}

static void free_window_and_memory(struct experiment *experiment)
{
    free_window(experiment);
    free(experiment->memory);
}

static void free_dynamic_window(struct experiment *experiment)
{
    if (experiment->is_target) {
        CHECKED(MPI_Win_detach(experiment->window, experiment->memory));
    }
    free_window_and_memory(experiment);
}

const struct flavor flavors[] = {
    {"create", create_window, free_window_and_memory},
    {"allocate", allocate_window, free_window},
    {"shared", allocate_shared_window, free_window},
    {"dynamic", create_dynamic_window, free_dynamic_window},
};

bool is_shared(const struct flavor *flavor)
{
    return flavor->open == allocate_shared_window;
}
