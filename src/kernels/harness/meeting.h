/* Accesses that meet a computing rank: one rank computes, and meanwhile the others begin accesses.
 *
 * A barrier does not ensure this. So computes and accesses are stamped on one clock, and the
 * analysis leaves out accesses that began outside a compute (series `compute_begin` and `compute`
 * of the rank that computes, `access_begin` and `access` of the others). */
#ifndef ONESIDED_MEETING_H
#define ONESIDED_MEETING_H

#include <stdbool.h>

#include "harness/launch.h"

/* Rows of a kernel's table of options. */
#define MEETING_OPTIONS                                                                            \
    NUMBER_OPTION("compute-ms", "MS", "length of a compute in milliseconds", "10", 1e-3, 3600000), \
        INTEGER_OPTION("computing-samples", "N", "computes that each other rank's accesses meet",  \
                       "7", 1, SERIES_SAMPLES_MAX)

enum meeting_part { COMPUTES, ACCESSES, LOOKS_ON };

struct meetings {
    struct launch *launch;
    struct record *record;
    enum meeting_part part; /* of this rank */
    double compute_s;
    long long samples;
    void *state;
    /* All ranks, untimed; a barrier follows. */
    void (*prepare)(void *state);
    /* NULL, or the work of the rank that computes, in place of fixed work without memory. */
    struct compute_sample (*compute)(void *state, double length_s);
    /* All ranks: the access. The rank that computes makes its access after its compute. */
    void (*go)(void *state);
    /* All ranks, untimed; a barrier comes before it. */
    void (*conclude)(void *state);
};

/* Return false, with the reason in the record, the same on all ranks, if stamps of different ranks
 * cannot be compared. */
bool meeting_is_supported(const struct launch *launch, struct record *record);

/* Collective. */
void meeting_take(const struct meetings *meeting);

#endif
