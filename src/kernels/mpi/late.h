/* Messages to a rank that receives late, and puts to one that comes back to MPI late. */
#ifndef ONESIDED_LATE_H
#define ONESIDED_LATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "harness/launch.h"

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

/* What a window does in place of a receive; the functions get `window`. */
struct late_window {
    void *window;
    void (*begin_own)(void *window); /* at the receiver, before and after it uses its own memory */
    void (*end_own)(void *window);
    void (*complete)(void *window); /* at the sender: its put is at the receiver, then */
};

/* What both ranks see outside MPI: the number of the message that may begin, whose call has begun,
 * and whose call has returned; and, of messages that follow each other, whether no further one is
 * to begin. */
struct page {
    _Atomic uint64_t ready, begun, returned;
    _Atomic bool is_over;
};

struct late {
    const struct launch *launch;
    const struct call *call;
    const struct late_window *window; /* NULL: the call is a send */
    bool is_in_mpi; /* the receiver makes progress, as a rank that is in a call of its own does */
    int64_t *payload, *result; /* at the sender; at the receiver, or in its window */
    uint64_t number;           /* of the message, from 1 */
    struct page *page;         /* NULL: the ranks share no memory */
    double delay_s;
    pid_t sender; /* its process, where the receiver sees how long that has computed; else 0 */
    long long largest_bytes, tries;
    struct series *sizes, *returned; /* at the receiver, or NULL */
    struct verification found;
};

/* Bytes of a payload or a result, for messages of so many bytes at most: whole words. */
size_t late_bytes(long long largest_bytes);

/* Both ranks, before the first message: does the receiver see how long the sender has computed? */
void late_meet(struct late *late);

/* At the sender; returns whether the call took less than half of the delay. */
bool late_send(struct late *late, long long size);

/* At the receiver: wait until the call has returned, or the delay is over, then receive. Returns
 * whether the call had returned before: never without a page. The delay is time that the sender has
 * computed, where the receiver sees that: on a busy machine a sender that has no core needs more.
 */
bool late_receive(struct late *late, long long size);

/* The parts of these, for messages that follow each other. At the sender: the payload of its
 * message. At the receiver: wait until the call has returned, or its delay is over; returns whether
 * it has. */
void late_fill(struct late *late, long long size);
bool late_wait(struct late *late);

/* At the receiver, once the sender has completed it: every byte. */
void late_compare(struct late *late, long long size);

#endif
