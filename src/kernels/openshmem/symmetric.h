/* Symmetric memory: the launch ends with a message if there is none; kernels never test for
 * NULL. */
#ifndef ONESIDED_SYMMETRIC_H
#define ONESIDED_SYMMETRIC_H

#include <stddef.h>

/* A row of a kernel's axes: window flavors, which have no meaning with OpenSHMEM. No cell fulfils
 * `condition` (struct axis, only_with). */
#define NO_FLAVOR_AXIS(condition)                                                                  \
    {.name = "flavor",                                                                             \
     .help = "where a window's memory comes from; OpenSHMEM has no windows",                       \
     .kind = AXIS_CHOICE,                                                                          \
     .fallback = NO_MEANING,                                                                       \
     .only_with = (condition)}

/* Collective: return zeroed symmetric memory on each rank; all ranks free it. */
void *symmetric_allocate(size_t size_bytes);
void symmetric_free(void *block);

#endif
