/* The critical section: a counter that only mutual exclusion keeps right, and a log of its ranks.
 *
 * In the section a rank reads the counter, writes its own rank into the log at the place that the
 * counter gives, and writes the counter plus one. Together these steps are not atomic: two ranks in
 * the section at once take the same place. After a burst each rank must find itself at each place
 * that it took, and the counter must have counted all cycles. Counter and log are at the last rank,
 * which is not the mutex's host. */
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
    long long places;      /* of the log; the counter comes before them */
    _Atomic int64_t *page; /* memory: shared by all ranks outside MPI */
    struct window window;  /* window: an epoch of all ranks is open */
    int64_t *taken;        /* by this rank's cycle: the place that it took */
    int64_t *log;          /* after a burst: counter and places, on each rank */
    struct verification counter, order;
};

/* Collective: false, with the reason in the record, if there is no such memory. */
bool section_open(struct section *section, struct launch *launch, const struct section_kind *kind,
                  long long places, struct record *record);
void section_close(struct section *section);

/* All ranks, before and after a burst, with a barrier between: clear the log; verify `total` cycles
 * of all ranks, and this rank's `own` cycles. */
void section_clear(struct section *section);
void section_check(struct section *section, long long total, long long own, uint64_t burst);

/* After the check, at the moment when the first of the ranks from `first` on had made `cycles`
 * cycles: the fewest cycles of any of these ranks, divided by `cycles`. 1: all took turns. */
double section_fairness(const struct section *section, int first, long long cycles);

#endif
