/* Messages to a rank that receives late, and puts to a rank that comes back to MPI late. */
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

/* The calls of a window in place of a receive; the functions get `window`. */
struct late_window {
    void *window;
    void (*begin_own)(void *window); /* at the receiver, around its own accesses */
    void (*end_own)(void *window);
    void (*complete)(void *window); /* at the sender: complete its put at the receiver */
};

/* What both ranks see outside MPI: the numbers of the last message that may begin, whose call has
 * begun, and whose call has returned; and whether no further message is to begin. */
struct page {
    _Atomic uint64_t ready, begun, returned;
    _Atomic bool is_over;
};

struct late {
    const struct launch *launch;
    const struct call *call;
    const struct late_window *window; /* NULL: the call is a send */
    bool is_in_mpi;            /* the receiver makes progress, as a rank inside an MPI call does */
    int64_t *payload, *result; /* at the sender; at the receiver, or in its window */
    uint64_t number;           /* of the message, from 1 */
    struct page *page;         /* NULL: the ranks share no memory */
    double delay_s;
    pid_t sender; /* its process, if the receiver sees that process's computed time; else 0 */
    long long largest_bytes, tries;
    struct series *sizes, *returned; /* at the receiver, or NULL */
    struct verification found;
};

/* Bytes of a payload or a result for messages of at most largest_bytes: whole words. */
size_t late_bytes(long long largest_bytes);

/* Both ranks, before the first message: does the receiver see how long the sender has computed? */
void late_meet(struct late *late);

/* At the sender; returns whether the call took less than half of the delay. */
bool late_send(struct late *late, long long size);

/* At the receiver: wait until the call has returned or the delay is over, then receive. Returns
 * whether the call had returned before the receive; false without a page. If the receiver sees the
 * sender's computed time, the delay is measured in this time, because a sender without a core needs
 * longer. */
bool late_receive(struct late *late, long long size);

/* Parts of late_send and late_receive, for messages that follow each other. At the sender: fill the
 * payload. At the receiver: wait until the call has returned or its delay is over; returns whether
 * the call has returned. */
void late_fill(struct late *late, long long size);
bool late_wait(struct late *late);

/* At the receiver, after the message is complete: verify every byte. */
void late_compare(struct late *late, long long size);

#endif
