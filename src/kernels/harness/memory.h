/* Memory: the process ends with a message if there is none, so kernels never test for NULL. */
#ifndef ONESIDED_MEMORY_H
#define ONESIDED_MEMORY_H

#include <stddef.h>

/* Return count zeroed elements of size_bytes each; end the process if there is no memory. */
void *allocate(size_t count, size_t size_bytes);

/* Return zeroed memory for a window: whole pages, so that it shares no cache line with other data,
 * whatever its size. To be freed with free(). */
void *allocate_pages(size_t size_bytes);

/* Return zeroed pages that nobody has touched yet: a page is near the thread that first touches it.
 * To be freed with free_untouched() of the same size. */
void *allocate_untouched(size_t size_bytes);
void free_untouched(void *pages, size_t size_bytes);

/* Return a block resized to size_bytes; end the process if there is no memory. */
void *reallocate(void *block, size_t size_bytes);

/* Return a copy of the first `length` characters of a text, terminated. */
char *copy_text(const char *text, size_t length);

#endif
