/* Caches: have what a sample needs in memory, not in a cache. */
#ifndef ONESIDED_CACHE_H
#define ONESIDED_CACHE_H

#include <stddef.h>

/* The largest cache of this core that the machine tells of. */
size_t largest_cache_bytes(void);

/* The caches that only this core has, all levels together. */
size_t own_cache_bytes(void);

/* Write so many bytes, a cache line at a time: what was in caches of that size is thrown out. Kept
 * for the life of the process: the memory it writes to. */
void flush_caches(size_t size_bytes);

#endif
