/* Symmetric memory: the launch ends with a message if there is none. */
#include "openshmem/symmetric.h"

#include <stdio.h>
#include <string.h>

#include "openshmem/called.h"

void *symmetric_allocate(size_t size_bytes)
{
    void *block = NULL;
    CALLED_FOR(block, shmem_malloc(size_bytes + 1)); /* at least one byte */
    if (block == NULL) {
        char message[128];
        snprintf(message, sizeof message, "found no room for %zu bytes in the symmetric heap",
                 size_bytes);
        watchdog_failed("shmem_malloc", message);
    }
    memset(block, 0, size_bytes);
    CALLED(shmem_barrier_all());
    return block;
}

void symmetric_free(void *block)
{
    CALLED(shmem_free(block));
}
