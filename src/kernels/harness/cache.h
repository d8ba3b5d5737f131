/* Caches: fill them with other data, so that the data of a sample come from memory. */
#ifndef ONESIDED_CACHE_H
#define ONESIDED_CACHE_H

#include <stddef.h>

/* Return the size of the largest cache of this core that the system reports. */
size_t largest_cache_bytes(void);

/* Return the size of the caches that only this core uses, all levels together. */
size_t own_cache_bytes(void);

/* Write size_bytes, a cache line at a time: all other data leave caches of this size. The memory
 * that is written is kept until the process ends. */
void flush_caches(size_t size_bytes);

#endif
