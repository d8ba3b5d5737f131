/* Put before a library: to write again over a file's data fails because no space is left, as on a
 * file system that writes to new places. */
#define _GNU_SOURCE
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

static int fails(int descriptor, long long offset)
{
    char link[64], path[4096] = "";
    struct stat found;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    if (readlink(link, path, sizeof path - 1) < 0 || fstat(descriptor, &found) != 0) {
        return 0;
    }
    const char *name = strrchr(path, '/'); /* a folder may have such a name, too */
    if (name == NULL || strstr(name, "/onesided-") == NULL || offset >= found.st_size) {
        return 0;
    }
    close(open(getenv("FULL"), O_CREAT | O_WRONLY, 0600));
    errno = ENOSPC;
    return 1;
}

#define REAL(name_)                                                                                \
    static __typeof__(name_) *real;                                                                \
    real = real ? real : dlsym(RTLD_NEXT, #name_)
#define WRITES(name_)                                                                              \
    ssize_t name_(int descriptor, const void *data, size_t bytes, off_t offset)                    \
    {                                                                                              \
        REAL(name_);                                                                               \
        return fails(descriptor, offset) ? -1 : real(descriptor, data, bytes, offset);             \
    }
WRITES(pwrite)
WRITES(pwrite64)

ssize_t write(int descriptor, const void *data, size_t bytes)
{
    REAL(write);
    return fails(descriptor, 0) ? -1 : real(descriptor, data, bytes);
}

ssize_t pwritev(int descriptor, const struct iovec *data, int count, off_t offset)
{
    REAL(pwritev);
    return fails(descriptor, offset) ? -1 : real(descriptor, data, count, offset);
}

ssize_t writev(int descriptor, const struct iovec *data, int count)
{
    REAL(writev);
    return fails(descriptor, 0) ? -1 : real(descriptor, data, count);
}

/* Data that a thread of the system's library writes later: known at the end. */
static const struct aiocb *failed;

int aio_write(struct aiocb *request)
{
    REAL(aio_write);
    failed = fails(request->aio_fildes, request->aio_offset) ? request : failed;
    return real(request);
}

int aio_error(const struct aiocb *request)
{
    REAL(aio_error);
    const int code = real(request);
    return code == 0 && request == failed ? ENOSPC : code;
}

ssize_t aio_return(struct aiocb *request)
{
    REAL(aio_return);
    const ssize_t written = real(request);
    errno = request == failed ? ENOSPC : errno;
    return request == failed ? -1 : written;
}

int statvfs(const char *path, struct statvfs *found)
{
    REAL(statvfs);
    const int code = real(path, found);
    if (access(getenv("FULL"), F_OK) == 0) {
        found->f_bavail = 0;
    }
    return code;
}
