/* Windows of four flavors. */
#include "rma/window.h"

#include <stdlib.h>

#include "harness/memory.h"
#include "mpi/checked.h"
#include "mpi/world.h"

static void create(struct window *window, MPI_Comm communicator)
{
    window->memory = allocate_pages((size_t)window->size_bytes);
    CHECKED(MPI_Win_create(window->memory, window->size_bytes, 1, window->info, communicator,
                           &window->handle));
}

static void allocate_private(struct window *window, MPI_Comm communicator)
{
    CHECKED(MPI_Win_allocate(window->size_bytes, 1, window->info, communicator, &window->memory,
                             &window->handle));
}

static void allocate_shared(struct window *window, MPI_Comm communicator)
{
    CHECKED(MPI_Win_allocate_shared(window->size_bytes, 1, window->info, communicator,
                                    &window->memory, &window->handle));
}

/* A dynamic window's displacements are each rank's own addresses. */
static void create_dynamic(struct window *window, MPI_Comm communicator)
{
    MPI_Aint begin = 0;
    CHECKED(MPI_Win_create_dynamic(window->info, communicator, &window->handle));
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
    [FLAVOR_CREATE] = {.name = "create", .open = create, .close = release_with_memory},
    [FLAVOR_ALLOCATE] = {.name = "allocate", .open = allocate_private, .close = release},
    [FLAVOR_SHARED] = {.name = "shared", .open = allocate_shared, .close = release},
    [FLAVOR_DYNAMIC] = {.name = "dynamic", .open = create_dynamic, .close = release_dynamic},
};

bool window_can_share(MPI_Comm communicator, struct record *record)
{
    char message[MPI_MAX_ERROR_STRING] = "";
    int code = MPI_SUCCESS, length = 0, works = 0;
    void *memory = NULL;
    MPI_Win window = MPI_WIN_NULL;
    TRIED(code, MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, communicator, &memory, &window));
    works = code == MPI_SUCCESS;
    CHECKED(MPI_Allreduce(MPI_IN_PLACE, &works, 1, MPI_INT, MPI_MIN, world_communicator));
    if (works) {
        CHECKED(MPI_Win_free(&window));
    } else if (code != MPI_SUCCESS) {
        CHECKED(MPI_Error_string(code, message, &length));
        record_status(record, CELL_UNSUPPORTED, "MPI_Win_allocate_shared: %s", message);
    }
    return works != 0;
}

bool window_is_supported(const struct launch *launch, const struct flavor *flavor,
                         struct record *record)
{
    MPI_Comm sharing;
    int ranks = 0;
    if (flavor->open != allocate_shared) {
        return true;
    }
    CHECKED(
        MPI_Comm_split_type(world_communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &sharing));
    CHECKED(MPI_Comm_size(sharing, &ranks));
    CHECKED(MPI_Comm_free(&sharing));
    CHECKED(MPI_Allreduce(MPI_IN_PLACE, &ranks, 1, MPI_INT, MPI_MIN, world_communicator));
    if (ranks < launch->ranks) {
        record_status(record, CELL_UNSUPPORTED,
                      "a shared window needs all ranks in one MPI_COMM_TYPE_SHARED");
    }
    return ranks == launch->ranks && window_can_share(world_communicator, record);
}

struct window window_open(const struct launch *launch, const struct flavor *flavor,
                          MPI_Aint size_bytes)
{
    return window_open_with(launch, flavor, size_bytes, MPI_INFO_NULL);
}

struct window window_open_with(const struct launch *launch, const struct flavor *flavor,
                               MPI_Aint size_bytes, MPI_Info info)
{
    struct window window = {.flavor = flavor,
                            .handle = MPI_WIN_NULL,
                            .info = info,
                            .size_bytes = size_bytes,
                            .begins = allocate((size_t)launch->ranks, sizeof(MPI_Aint)),
                            .rank = launch->rank};
    flavor->open(&window, world_communicator);
    CHECKED(MPI_Win_set_errhandler(window.handle, MPI_ERRORS_RETURN));
    return window;
}

void window_hold(struct window *window)
{
    CHECKED(MPI_Win_lock_all(0, window->handle));
    window->is_locked = true;
}

void window_release(struct window *window)
{
    if (window->is_locked) {
        CHECKED(MPI_Win_unlock_all(window->handle));
        window->is_locked = false;
    }
}

void window_close(struct window *window)
{
    window_release(window);
    window->flavor->close(window);
    free(window->begins);
}

static void synchronise(const struct window *window)
{
    CHECKED(MPI_Win_sync(window->handle));
    if (window->has_ghost) {
        CHECKED(MPI_Win_sync(window->shared));
    }
}

void window_begin_own(struct window *window, int lock_type)
{
    if (!window->is_locked) {
        CHECKED(MPI_Win_lock(lock_type, window->rank, 0, window->handle));
    }
    synchronise(window);
}

void window_end_own(struct window *window)
{
    synchronise(window);
    if (!window->is_locked) {
        CHECKED(MPI_Win_unlock(window->rank, window->handle));
    }
}

void window_begin_between(struct window *window)
{
    if (window->is_locked) {
        window_begin_own(window, MPI_LOCK_SHARED);
    }
}

void window_end_between(struct window *window)
{
    if (window->is_locked) {
        window_end_own(window);
    }
}

static const char *window_model(MPI_Win window)
{
    int *model = NULL;
    int found = 0;
    CHECKED(MPI_Win_get_attr(window, MPI_WIN_MODEL, &model, &found));
    if (!found) {
        return NULL;
    }
    return *model == MPI_WIN_UNIFIED ? "unified" : *model == MPI_WIN_SEPARATE ? "separate" : NULL;
}

static void write_info(struct json *json, MPI_Win window)
{
    MPI_Info info = MPI_INFO_NULL;
    int keys = 0;
    json_open(json, '{');
    CHECKED(MPI_Win_get_info(window, &info));
    if (info != MPI_INFO_NULL) {
        CHECKED(MPI_Info_get_nkeys(info, &keys));
        for (int i = 0; i < keys; i++) {
            char key[MPI_MAX_INFO_KEY + 1] = "";
            char value[MPI_MAX_INFO_VAL + 1] = "";
            int found = 0;
            CHECKED(MPI_Info_get_nthkey(info, i, key));
            CHECKED(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found));
            json_key_text(json, key, found ? value : NULL);
        }
        CHECKED(MPI_Info_free(&info));
    }
    json_close(json, '}');
}

void record_window(struct record *record, MPI_Win window, const char *flavor, long long size_bytes)
{
    record->window.model = window_model(window);
    record->window.flavor = flavor;
    record->window.size_bytes = size_bytes;
    json_free(&record->window.info);
    write_info(&record->window.info, window);
}
