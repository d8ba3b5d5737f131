/* Messages to a rank that receives late, and puts to one that comes back to MPI late. */
#ifndef ONESIDED_LATE_H
#define ONESIDED_LATE_H

#include <stdatomic.h>

#include "harness/launch.h"
#include "mpi/checked.h"
#include "mpi/world.h"
#include "rma/window.h"

#define RECEIVER 0
#define SENDER 1

struct late;

/* What rank 1 calls. */
struct call {
    const char *name;
    bool needs_window;
    /* THE CALL THAT IS WATCHED. */
    void (*once)(const struct late *late, long long size);
};

/* What rank 0 does before it receives. */
struct receiver {
    const char *name;
    bool is_in_mpi; /* it makes progress, as a rank that is in a call of its own does */
};

/* What both ranks see outside MPI: the number of the message that may begin, or has returned. */
struct page {
    _Atomic uint64_t ready, returned;
};

struct late {
    struct launch *launch;
    const struct cell *cell;
    const struct call *call;
    const struct receiver *receiver;
    struct window window;
    int64_t *payload, *result; /* at the sender; at the receiver, or in its window */
    uint64_t number;           /* of the message, from 1 */
    struct page *page;         /* NULL: the ranks share no memory */
    double delay_s;
    struct series *sizes, *returned; /* at the receiver */
    struct verification found;
};

/* Words that hold so many bytes. */
long long words_of(long long size);

/* At the sender; returns whether the call took less than half of the delay. */
bool send_one(struct late *late, long long size);

/* At the receiver: wait until the call has returned, or the delay is over, then receive. Returns
 * whether the call had returned before: never without a page. */
bool receive_late(struct late *late, long long size);

/* At the receiver, once the sender has completed it: every byte. */
void compare(struct late *late, long long size);

#endif
