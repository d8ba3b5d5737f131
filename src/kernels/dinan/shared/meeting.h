/* Meetings: accesses to a rank that computes. In each trial rank 0 computes once, and the others
 * access it while it does. Stamps of all are kept, on one clock. */
#ifndef ONESIDED_MEETING_H
#define ONESIDED_MEETING_H

#include "harness/launch.h"

#define TARGET 0 /* the rank that computes, and that all others access */

/* What rank 0 does while the others access it: a row of the axis. */
struct target_state {
    const char *name;
    bool computes;
};
extern const struct target_state target_states[2];

#define TARGET_STATE_AXIS                                                                          \
    {.name = "target_state",                                                                       \
     .help = "what rank 0 does meanwhile",                                                         \
     .kind = AXIS_CHOICE,                                                                          \
     .fallback = "idle,computes",                                                                  \
     .choices = TABLE(target_states)}

/* Rows of a kernel's options. */
#define COMPUTE_OPTION                                                                             \
    {.name = "compute-ms",                                                                         \
     .argument = "MS",                                                                             \
     .help = "length of a compute",                                                                \
     .kind = OPTION_NUMBER,                                                                        \
     .fallback = "5",                                                                              \
     .minimum = 0.01,                                                                              \
     .maximum = 3600000}
#define MEETING_OPTIONS                                                                            \
    {.name = "meetings",                                                                           \
     .argument = "N",                                                                              \
     .help = "accesses of each rank to one that computes meanwhile",                               \
     .kind = OPTION_INTEGER,                                                                       \
     .fallback = "5",                                                                              \
     .minimum = 1,                                                                                 \
     .maximum = SERIES_SAMPLES_MAX}

/* Functions get `state`. */
struct meetings {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    void *state;
    double length_s; /* of a compute */
    bool is_behind;  /* an access needs a call that rank 0 makes after it has computed */
    void (*prepare)(void *state, long long burst); /* all ranks, untimed */
    /* NULL, or how rank 0 computes */
    struct compute_sample (*compute)(void *state, double length_s);
    void (*access)(void *state); /* the others: once */
    void (*follow)(void *state); /* NULL, or rank 0 after its compute: its part in the access */
    void (*check)(void *state, long long burst); /* all ranks, untimed */
};

/* Tell whether the ranks have a clock in common; the record says so if they have not. */
bool has_one_clock(const struct launch *launch, struct record *record);

/* Collective; with one clock. */
void meetings_take(const struct meetings *meetings);

/* The others wait for so long before they access a rank whose compute has the length. */
double lead_s(double length_s);

#endif
