/* A message to rank 0, which sends it back: its time is the measure of all times on a wire. */
#ifndef ONESIDED_WIRE_MESSAGE_H
#define ONESIDED_WIRE_MESSAGE_H

#include <stdbool.h>

#include "harness/verification.h"

#define TARGET 0

/* A row of a kernel's axes. */
#define DELAY_US_AXIS                                                                              \
    {.name = "delay_us",                                                                           \
     .help = "of the wire, one way, as the launch was told: a word, and nothing is done by it",    \
     .kind = AXIS_NUMBER,                                                                          \
     .fallback = "0",                                                                              \
     .minimum = 0,                                                                                 \
     .maximum = 1000000}

struct messages {
    int origin;      /* rank */
    bool is_origin;  /* this rank; if not, it is rank 0 */
    long long count; /* so far, the same number at both ranks */
    struct verification sent_back;
};

/* At the origin and at rank 0: a message there and back; its seconds. Rank 0 is in MPI_Recv, or was
 * a moment ago. */
double message_there_and_back(struct messages *messages);

#endif
