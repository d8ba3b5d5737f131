/* Accesses that meet a computing rank: one rank computes, and the others begin while it does.
 *
 * A barrier does not make sure of that, so both are stamped on one clock, and the analysis leaves
 * out what began outside a compute (series `compute_begin` and `compute` of the rank that computes,
 * `access_begin` and `access` of those that access). */
#ifndef ONESIDED_MEETING_H
#define ONESIDED_MEETING_H

#include <stdbool.h>

#include "harness/launch.h"

/* Rows of a kernel's table of options. */
#define MEETING_OPTIONS                                                                            \
    {.name = "compute-ms",                                                                         \
     .argument = "MS",                                                                             \
     .help = "length of a compute in milliseconds",                                                \
     .kind = OPTION_NUMBER,                                                                        \
     .fallback = "10",                                                                             \
     .minimum = 1e-3,                                                                              \
     .maximum = 3600000},                                                                          \
    {                                                                                              \
        .name = "computing-samples", .argument = "N",                                              \
        .help = "computes that each other rank's accesses meet", .kind = OPTION_INTEGER,           \
        .fallback = "7", .minimum = 1, .maximum = SERIES_SAMPLES_MAX                               \
    }

enum meeting_part { COMPUTES, ACCESSES, LOOKS_ON };

struct meetings {
    struct launch *launch;
    struct record *record;
    enum meeting_part part; /* of this rank */
    double compute_s;
    long long samples;
    void *state;
    /* All ranks, untimed; a barrier is its end. */
    void (*prepare)(void *state);
    /* NULL, or what the rank that computes does instead of fixed work without memory. */
    struct compute_sample (*compute)(void *state, double length_s);
    /* All ranks: the access; that of the rank that computes comes after its compute. */
    void (*go)(void *state);
    /* All ranks, untimed; a barrier is its beginning. */
    void (*conclude)(void *state);
};

/* Leave the reason in the record, the same on all ranks, and return false where stamps of different
 * ranks cannot be compared. */
bool meeting_is_supported(const struct launch *launch, struct record *record);

/* Collective. */
void meeting_take(const struct meetings *meeting);

#endif
