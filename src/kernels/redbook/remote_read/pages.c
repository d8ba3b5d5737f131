/* The page cache: remove a file from it, and measure how much of a file is in it. */
#include "redbook/remote_read/pages.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/memory.h"

void pages_drop(int descriptor)
{
    fsync(descriptor);
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
}

/* A mapping that nobody touches brings no page into memory. */
double pages_resident(int descriptor, long long bytes)
{
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    const size_t pages = ((size_t)bytes + page_bytes - 1) / page_bytes;
    void *const mapped = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, descriptor, 0);
    if (mapped == MAP_FAILED) {
        return -1;
    }
    unsigned char *in_memory = allocate(pages, 1);
    size_t found = 0;
    const int code = mincore(mapped, (size_t)bytes, in_memory);
    for (size_t i = 0; i < pages; i++) {
        found += in_memory[i] & 1u;
    }
    free(in_memory);
    munmap(mapped, (size_t)bytes);
    return code == 0 ? (double)found / (double)pages : -1;
}
