/* Pairs that exchange messages at the same time: of processes, or of threads of two processes.
 *
 * A pair of threads has a lane of the exchange (slots/exchange.h): thread i of rank 0 and thread i
 * of rank 1. Of processes it is ranks i and i + pairs. Further ranks have no part. */
#ifndef ONESIDED_PAIRS_H
#define ONESIDED_PAIRS_H

#include "mpi/team.h"
#include "slots/exchange.h"

struct pairs {
    int count;
    bool threads;      /* else processes */
    bool apart;        /* each thread has a communicator, or a window, of its own */
    bool second_waits; /* the second of a pair makes no call: it has no threads for it */
};

/* The whole of a kernel's run_cell: threads of this rank, and an exchange. The record says why the
 * cell cannot run, where there are too few ranks, or where MPI provides too low a thread level. */
void pairs_run(struct launch *launch, const struct cell *cell, struct record *record,
               const struct kind *kind, struct pairs pairs);

/* For `describe`: a message from the first of each pair to the second, and where both is set back;
 * false, and the record says why, if the cell's size is no multiple of 8. */
bool pairs_describe(struct exchange *exchange, bool both);

/* For `go`: the task of each lane, all at once; returns when all are through. */
void pairs_go(const struct exchange *exchange, int passes,
              void (*task)(const struct exchange *exchange, int lane, int passes));

/* What is sent on a lane from here, or received; NULL where nothing is. */
INLINE const struct part *on_lane(const struct parts *parts, int lane)
{
    return lane < parts->count ? &parts->part[lane] : NULL;
}

#endif
