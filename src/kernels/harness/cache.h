/* Caches: have what a sample needs in memory, not in a cache. */
#ifndef ONESIDED_CACHE_H
#define ONESIDED_CACHE_H

/* Write twice as many bytes as the largest cache of this core has, a cache line at a time: what was
 * there before is thrown out. Kept for the life of the process: the memory it writes to. */
void flush_caches(void);

#endif
