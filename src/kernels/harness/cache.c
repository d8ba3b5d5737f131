/* Caches: fill them with other data, so that the data of a sample come from memory. */
#include "harness/cache.h"

#include <unistd.h>

#include "harness/memory.h"

#define LINE_BYTES 64
#define UNKNOWN_CACHE_BYTES (32L << 20) /* if the system does not tell the size */

size_t largest_cache_bytes(void)
{
    static const int levels[] = {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE,
                                 _SC_LEVEL2_CACHE_SIZE};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        const long bytes = sysconf(levels[i]);
        if (bytes > 0) {
            return (size_t)bytes;
        }
    }
    return UNKNOWN_CACHE_BYTES;
}

size_t own_cache_bytes(void)
{
    const long first = sysconf(_SC_LEVEL1_DCACHE_SIZE), second = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return (size_t)(first > 0 ? first : 0) + (size_t)(second > 0 ? second : 0);
}

void flush_caches(size_t size_bytes)
{
    static volatile unsigned char *memory;
    static size_t room_bytes;
    if (size_bytes > room_bytes) {
        memory = reallocate((void *)memory, size_bytes);
        room_bytes = size_bytes;
    }
    for (size_t at = 0; at < size_bytes; at += LINE_BYTES) {
        memory[at]++;
    }
}
