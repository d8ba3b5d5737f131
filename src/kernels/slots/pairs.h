/* Pairs that exchange messages at the same time: of processes, or of threads of two processes.
 *
 * A pair of threads is thread i of rank 0 and thread i of rank 1, and has a lane of the exchange
 * (slots/exchange.h). A pair of processes is the ranks i and i + pairs. Further ranks have no
 * part. */
#ifndef ONESIDED_PAIRS_H
#define ONESIDED_PAIRS_H

#include "mpi/team.h"
#include "slots/exchange.h"

struct pairs {
    int count;
    bool threads;      /* else processes */
    bool apart;        /* each thread has its own communicator or window */
    bool second_waits; /* the second of a pair makes no call, and needs no threads */
};

/* The whole of a kernel's run_cell: threads of this rank, and an exchange. With too few ranks, or
 * too low a thread level, the cell cannot run, and the record says so. */
void pairs_run(struct launch *launch, const struct cell *cell, struct record *record,
               const struct kind *kind, struct pairs pairs);

/* For `describe`: a message from the first of each pair to the second, and with `both` also back;
 * false, with the reason in the record, if the cell's size is no multiple of 8. */
bool pairs_describe(struct exchange *exchange, bool both);

/* For `go`: the task of each lane, all at once; returns when all are through. */
void pairs_go(const struct exchange *exchange, int passes,
              void (*task)(const struct exchange *exchange, int lane, int passes));

/* The message that this rank sends or receives on a lane; NULL: there is none. */
INLINE const struct part *on_lane(const struct parts *parts, int lane)
{
    return lane < parts->count ? &parts->part[lane] : NULL;
}

#endif
