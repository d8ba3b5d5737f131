/* Memory: the process ends with a message if there is none, so kernels never test for NULL. */
#include "harness/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *present(void *block, size_t size_bytes)
{
    if (block == NULL && size_bytes > 0) {
        fprintf(stderr, "out of memory: %zu bytes asked for\n", size_bytes);
        abort();
    }
    return block;
}

void *allocate(size_t count, size_t size_bytes)
{
    return present(calloc(count, size_bytes), count * size_bytes);
}

void *allocate_pages(size_t size_bytes)
{
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    const size_t whole_bytes = (size_bytes / page_bytes + 1) * page_bytes;
    void *pages = present(aligned_alloc(page_bytes, whole_bytes), whole_bytes);
    memset(pages, 0, whole_bytes);
    return pages;
}

void *allocate_untouched(size_t size_bytes)
{
    void *pages =
        mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return present(pages == MAP_FAILED ? NULL : pages, size_bytes);
}

void free_untouched(void *pages, size_t size_bytes)
{
    munmap(pages, size_bytes);
}

void *reallocate(void *block, size_t size_bytes)
{
    return present(realloc(block, size_bytes), size_bytes);
}

char *copy_text(const char *text, size_t length)
{
    char *copy = allocate(length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}
