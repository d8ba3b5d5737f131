/* A message to rank 0, which sends it back. All times on a wire are compared with its time. */
#ifndef ONESIDED_WIRE_MESSAGE_H
#define ONESIDED_WIRE_MESSAGE_H

#include <stdbool.h>

#include "harness/verification.h"

#define TARGET 0

/* The axis `delay_us`, for a kernel's table of axes. */
#define DELAY_US_AXIS                                                                              \
    NUMBER_AXIS("delay_us",                                                                        \
                "delay of the wire in one direction; a label, which the kernel does not use", "0", \
                0, 1000000)

struct messages {
    int origin;      /* the rank that sends each message first */
    bool is_origin;  /* whether this rank is the origin; otherwise it is rank 0 */
    long long count; /* messages so far; the same number at both ranks */
    struct verification sent_back;
};

/* At the origin and at rank 0: send a message there and back; return its time in seconds. When the
 * origin's call returns, rank 0 has just called MPI_Send. */
double message_there_and_back(struct messages *messages);

#endif
