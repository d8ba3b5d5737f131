/* The critical section: a counter that only mutual exclusion keeps right, and a log of who was in.
 *
 * A rank that is in reads the counter, writes its own rank at that place of the log, and writes the
 * counter with one more: reads and writes that are not atomic together. Two ranks that are in at
 * once take the same place. Afterwards each rank finds itself at each place that it took, and the
 * counter has counted all. Counter and log are at the last rank, which is not the mutex's host. */
#ifndef ONESIDED_SECTION_H
#define ONESIDED_SECTION_H

#include <stdatomic.h>

#include "harness/launch.h"
#include "rma/window.h"

struct section;

/* Where counter and log are: a row of the axis. */
struct section_kind {
    const char *name;
    int64_t (*pass)(struct section *section);
};
extern const struct section_kind section_kinds[2];

struct section {
    struct launch *launch;
    const struct section_kind *kind;
    int home;              /* the rank with counter and log */
    long long places;      /* of the log, and one counter before them */
    _Atomic int64_t *page; /* memory: shared by all ranks outside MPI */
    struct window window;  /* window: an epoch of all ranks is open */
    int64_t *taken;        /* by this rank's cycle: the place that it took */
    int64_t *log;          /* after a burst: counter and places, on each rank */
    struct verification counter, order;
};

/* Collective: false, and the record says why, where there is no such memory. */
bool section_open(struct section *section, struct launch *launch, const struct section_kind *kind,
                  long long places, struct record *record);
void section_close(struct section *section);

/* All ranks, before a burst and after it, with a barrier between: so many cycles of all ranks, of
 * which this one made some. */
void section_clear(struct section *section);
void section_check(struct section *section, long long total, long long own, uint64_t burst);

/* After the check: the fewest times that a rank, from `first`, was in when the first of them had
 * been in `cycles` times, over these. 1: all took turns. */
double section_fairness(const struct section *section, int first, long long cycles);

#endif
