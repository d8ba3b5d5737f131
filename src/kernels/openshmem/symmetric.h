/* Symmetric memory that is there, or a clear end: kernels never test for NULL. */
#ifndef ONESIDED_SYMMETRIC_H
#define ONESIDED_SYMMETRIC_H

#include <stddef.h>

/* A row of a kernel's axes: that of window flavors, which has no meaning here. `condition` is one
 * that no cell fulfils (struct axis, only_with). */
#define NO_FLAVOR_AXIS(condition)                                                                  \
    {.name = "flavor",                                                                             \
     .help = "where a window's memory comes from; OpenSHMEM has no windows",                       \
     .kind = AXIS_CHOICE,                                                                          \
     .fallback = NO_MEANING,                                                                       \
     .only_with = (condition)}

/* Collective: so many zeroed bytes on each rank, at an address that all know; to be freed by all.
 */
void *symmetric_allocate(size_t size_bytes);
void symmetric_free(void *block);

#endif
