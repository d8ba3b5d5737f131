/* How a rank writes a step of its output, and what the file has afterwards. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "mpi/checked.h"
#include "redbook/overlapped_output/output.h"

static long long place_of(const struct output *own, long long step)
{
    return (own->launch->rank * (long long)own->steps + step) * bytes_of_step(own);
}

static void write_by_system(struct output *own, const int64_t *data, long long step)
{
    const int error = storage_write(own->descriptor, data, bytes_of_step(own), place_of(own, step));
    if (error != 0) {
        watchdog_failed("pwrite", strerror(error));
    }
}

static void write_at(struct output *own, const int64_t *data, long long step)
{
    CHECKED(MPI_File_write_at(own->file, place_of(own, step), data, own->elements, MPI_INT64_T,
                              MPI_STATUS_IGNORE));
}

static void begin_write_at(struct output *own, const int64_t *data, long long step)
{
    CHECKED(MPI_File_iwrite_at(own->file, place_of(own, step), data, own->elements, MPI_INT64_T,
                               &own->request));
}

static void end_by_system(struct output *own)
{
    if (own->until->is_device && fdatasync(own->descriptor) != 0) {
        watchdog_failed("fdatasync", strerror(errno));
    }
}

static void end_write_at(struct output *own)
{
    if (own->until->is_device) {
        CHECKED(MPI_File_sync(own->file));
    }
}

static void end_iwrite_at(struct output *own)
{
    CHECKED(MPI_Wait(&own->request, MPI_STATUS_IGNORE));
    end_write_at(own);
}

const struct way ways[WAYS] = {
    {.name = "posix", .begin = write_by_system, .end = end_by_system},
    {.name = "write_at", .by_mpi = true, .begin = write_at, .end = end_write_at},
    {.name = "iwrite_at",
     .is_later = true,
     .by_mpi = true,
     .begin = begin_write_at,
     .end = end_iwrite_at},
    {.name = "thread_posix", .by_thread = true, .begin = write_by_system, .end = end_by_system},
    {.name = "thread_write_at",
     .by_thread = true,
     .by_mpi = true,
     .begin = write_at,
     .end = end_write_at},
};

/* ---- Around a burst, untimed ---- */

void open_output(struct output *own)
{
    if (own->way->by_mpi) {
        CHECKED(MPI_File_open(MPI_COMM_SELF, own->stored.path, MPI_MODE_WRONLY, MPI_INFO_NULL,
                              &own->file));
        CHECKED(MPI_File_set_view(own->file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    } else if ((own->descriptor = open(own->stored.path, O_WRONLY | O_CLOEXEC)) < 0) {
        watchdog_failed("open", strerror(errno));
    }
}

static void compare_step(struct output *own, int descriptor, long long step)
{
    memset(own->copy, 0, (size_t)bytes_of_step(own));
    storage_read(descriptor, own->copy, bytes_of_step(own), place_of(own, step));
    for (int i = 0; i < own->elements; i++) {
        verify_element(&own->found, own->copy[i], value_of_step(own, step, i), (size_t)i,
                       own->first + (uint64_t)step);
    }
}

void check_output(struct output *own)
{
    if (own->way->by_mpi) {
        CHECKED(MPI_File_close(&own->file));
    } else {
        close(own->descriptor);
    }
    const int descriptor = open(own->stored.path, O_RDONLY | O_CLOEXEC);
    for (long long step = 0; step < own->burst; step++) {
        compare_step(own, descriptor, step);
    }
    close(descriptor);
}
