/* A file that is opened in one of several ways, and accesses for which no space is left. */
#include "redbook/parallel_io/access.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* MPI has a class for this error, but ROMIO returns MPI_ERR_IO for all errors, OMPIO
 * MPI_ERR_OTHER. */
static bool is_no_space(const struct access *own, int code)
{
    int class = MPI_SUCCESS;
    CHECKED(MPI_Error_class(code, &class));
    return class == MPI_ERR_NO_SPACE || class == MPI_ERR_QUOTA ||
           storage_room_bytes(&own->stored) < own->stored.bytes;
}

/* If a write fails, ROMIO may keep its lock on a part of the file, and the other ranks then wait
 * for ever. A process loses all its locks on a file when it closes any descriptor of the file. */
static void drop_locks(const struct access *own)
{
    close(open(own->stored.path, O_RDONLY | O_CLOEXEC));
}

static void failed(struct access *own, const char *call, int code)
{
    if (!is_no_space(own, code)) {
        mpi_failed(call, code);
    }
    own->is_full = true;
    drop_locks(own);
}

void access_ended(struct access *own, const char *call, int code, const MPI_Status *status)
{
    int found = 0;
    if (code != MPI_SUCCESS) {
        failed(own, call, code);
        return;
    }
    CHECKED(MPI_Get_count(status, MPI_INT32_T, &found));
    if (found != own->cube.elements) {
        failed(own, call, MPI_ERR_IO);
    }
}

void access_ended_with(struct access *own, const char *call, int error)
{
    if (error == ENOSPC || error == EDQUOT) {
        own->is_full = true;
    } else if (error != 0) {
        watchdog_failed(call, strerror(error));
    }
}

/* Collective: has any rank found no space left? Then the record says so and the cell is over. */
static bool is_over(struct access *own)
{
    if (!own->is_over && world_greatest(own->is_full) > 0) {
        own->is_over = true;
        record_status(own->record, CELL_UNSUPPORTED,
                      "no space left: asked for %lld bytes on %s (%s), found %lld",
                      own->stored.bytes, own->stored.device, own->stored.file_system,
                      storage_room_bytes(&own->stored));
    }
    return own->is_over;
}

void open_view(struct access *own)
{
    const int mode = own->reads ? MPI_MODE_RDONLY : MPI_MODE_RDWR;
    CHECKED(MPI_File_open(world_communicator, own->stored.path, mode, MPI_INFO_NULL, &own->file));
    CHECKED(MPI_File_set_view(own->file, 0, MPI_INT32_T, own->cube.views[own->launch->rank],
                              "native", MPI_INFO_NULL));
}

void close_view(struct access *own)
{
    int code = MPI_SUCCESS;
    TRIED(code, MPI_File_close(&own->file));
    if (code != MPI_SUCCESS) {
        failed(own, "MPI_File_close", code);
    }
}

void open_each(struct access *own)
{
    own->descriptor = open(own->stored.path, (own->reads ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
    access_ended_with(own, "open", own->descriptor < 0 ? errno : 0);
}

void open_first(struct access *own)
{
    own->descriptor = -1;
    if (own->launch->rank == 0) {
        open_each(own);
    }
}

void open_own(struct access *own)
{
    char path[PATH_MAX];
    cube_own_path(&own->stored, own->launch->rank, path);
    own->descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    access_ended_with(own, "open", own->descriptor < 0 ? errno : 0);
}

void access_remove(const struct access *own)
{
    char path[PATH_MAX];
    if (own->way->own_files) {
        world_barrier(); /* the other ranks compare it */
        cube_own_path(&own->stored, own->launch->rank, path);
        unlink(path);
    }
}

void close_own(struct access *own)
{
    if (own->descriptor >= 0) {
        access_ended_with(own, "close", close(own->descriptor) == 0 ? 0 : errno);
    }
}

/* ---- A sample ---- */

/* Each rank writes its own file, or rank 0 writes the common file. */
static void write_what_is_read(struct access *own)
{
    if (own->way->own_files) {
        own->way->open(own);
        own->way->write(own);
        own->way->close(own);
    } else if (own->launch->rank == 0) {
        access_ended_with(own, "pwrite", cube_write_file(&own->cube, &own->stored));
    }
}

void access_prepare(void *state, long long burst)
{
    struct access *own = state;
    (void)burst;
    own->cube.sample++;
    if (own->is_over) {
        return;
    }
    cube_fill(&own->cube);
    if (own->reads) {
        write_what_is_read(own);
        cube_clear(&own->cube);
    }
    world_barrier();
    const double begin_s = clock_now_s();
    own->way->open(own);
    own->open_s = clock_now_s() - begin_s;
}

void access_check(void *state, long long burst)
{
    struct access *own = state;
    (void)burst;
    if (own->is_over) {
        return;
    }
    if (own->reads) {
        own->way->close(own);
    }
    if (is_over(own)) {
        return;
    }
    if (own->reads) {
        cube_check_block(&own->cube);
    } else if (own->way->own_files) {
        cube_check_own_files(&own->cube, &own->stored);
    } else {
        cube_check_file(&own->cube, &own->stored);
    }
}

/* Time the fsync of the file by rank 0, whichever rank wrote; with own files, of rank 0's file. */
void access_keep(void *state, long long burst)
{
    struct access *own = state;
    if (own->is_over) {
        return;
    }
    series_keep(own->record, &own->open, "open", "s", burst, own->open_s);
    if (!own->reads && own->launch->rank == 0) {
        char path[PATH_MAX];
        cube_own_path(&own->stored, 0, path);
        const int descriptor =
            open(own->way->own_files ? path : own->stored.path, O_RDONLY | O_CLOEXEC);
        const double begin_s = clock_now_s();
        fsync(descriptor);
        series_keep(own->record, &own->device, "device", "s", burst, clock_now_s() - begin_s);
        close(descriptor);
    }
}
