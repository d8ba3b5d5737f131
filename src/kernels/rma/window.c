/* Windows of four flavors. */
#include "rma/window.h"

#include <stdlib.h>

#include "harness/memory.h"
#include "harness/watchdog.h"

static void create(struct window *window, MPI_Comm communicator)
{
    window->memory = allocate_pages((size_t)window->size_bytes);
    CHECKED(MPI_Win_create(window->memory, window->size_bytes, 1, MPI_INFO_NULL, communicator,
                           &window->handle));
}

static void allocate_private(struct window *window, MPI_Comm communicator)
{
    CHECKED(MPI_Win_allocate(window->size_bytes, 1, MPI_INFO_NULL, communicator, &window->memory,
                             &window->handle));
}

static void allocate_shared(struct window *window, MPI_Comm communicator)
{
    CHECKED(MPI_Win_allocate_shared(window->size_bytes, 1, MPI_INFO_NULL, communicator,
                                    &window->memory, &window->handle));
}

/* A dynamic window's displacements are each rank's own addresses. */
static void create_dynamic(struct window *window, MPI_Comm communicator)
{
    MPI_Aint begin = 0;
    CHECKED(MPI_Win_create_dynamic(MPI_INFO_NULL, communicator, &window->handle));
    CHECKED(MPI_Win_set_errhandler(window->handle, MPI_ERRORS_RETURN));
    if (window->size_bytes > 0) {
        window->memory = allocate_pages((size_t)window->size_bytes);
        CHECKED(MPI_Win_attach(window->handle, window->memory, window->size_bytes));
        CHECKED(MPI_Get_address(window->memory, &begin));
    }
    CHECKED(MPI_Allgather(&begin, 1, MPI_AINT, window->begins, 1, MPI_AINT, communicator));
}

static void release(struct window *window)
{
    CHECKED(MPI_Win_free(&window->handle));
}

static void release_with_memory(struct window *window)
{
    release(window);
    free(window->memory);
}

static void release_dynamic(struct window *window)
{
    if (window->size_bytes > 0) {
        CHECKED(MPI_Win_detach(window->handle, window->memory));
    }
    release_with_memory(window);
}

const struct flavor flavors[] = {
    {.name = "create", .open = create, .close = release_with_memory},
    {.name = "allocate", .open = allocate_private, .close = release},
    {.name = "shared", .open = allocate_shared, .close = release},
    {.name = "dynamic", .open = create_dynamic, .close = release_dynamic},
};

bool window_is_supported(const struct launch *launch, const struct flavor *flavor,
                         struct record *record)
{
    MPI_Comm sharing;
    int ranks = 0;
    if (flavor->open != allocate_shared) {
        return true;
    }
    CHECKED(MPI_Comm_split_type(launch->communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                                &sharing));
    CHECKED(MPI_Comm_size(sharing, &ranks));
    CHECKED(MPI_Comm_free(&sharing));
    CHECKED(MPI_Allreduce(MPI_IN_PLACE, &ranks, 1, MPI_INT, MPI_MIN, launch->communicator));
    if (ranks < launch->ranks) {
        record_status(record, CELL_UNSUPPORTED,
                      "a shared window needs all ranks in one MPI_COMM_TYPE_SHARED");
    }
    return ranks == launch->ranks;
}

struct window window_open(const struct launch *launch, const struct flavor *flavor,
                          MPI_Aint size_bytes)
{
    struct window window = {.flavor = flavor,
                            .handle = MPI_WIN_NULL,
                            .size_bytes = size_bytes,
                            .begins = allocate((size_t)launch->ranks, sizeof(MPI_Aint)),
                            .rank = launch->rank};
    flavor->open(&window, launch->communicator);
    CHECKED(MPI_Win_set_errhandler(window.handle, MPI_ERRORS_RETURN));
    return window;
}

void window_close(struct window *window)
{
    window->flavor->close(window);
    free(window->begins);
}

void window_begin_own(struct window *window, int lock_type)
{
    if (!window->is_locked) {
        CHECKED(MPI_Win_lock(lock_type, window->rank, 0, window->handle));
    }
    CHECKED(MPI_Win_sync(window->handle));
}

void window_end_own(struct window *window)
{
    CHECKED(MPI_Win_sync(window->handle));
    if (!window->is_locked) {
        CHECKED(MPI_Win_unlock(window->rank, window->handle));
    }
}
