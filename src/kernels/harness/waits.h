/* How long a rank waited for a core: on a busy machine a time is the scheduler's, too. */
#ifndef ONESIDED_WAITS_H
#define ONESIDED_WAITS_H

#include <stdbool.h>

/* Of one rank, and of how long. NAN, or both 0: not told. */
struct waits {
    double waited_s;
    double passed_s;
};

struct waits waits_begin(void);
void waits_end(struct waits *waits);

/* A time is the scheduler's where a rank waited for more than this share of it. */
#define BUSY_SHARE 0.1
bool waits_are_many(const struct waits *waits);

/* Collective: those of the rank that waited for the greatest share; all ranks get them. */
struct waits waits_worst(const struct waits *own, int ranks);

#endif
