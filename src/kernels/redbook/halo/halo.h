/* What the files of the kernel `halo` share: the block of this rank, and its messages. */
#ifndef ONESIDED_HALO_H
#define ONESIDED_HALO_H

#include "mpi/team.h"
#include "redbook/halo/domain.h"
#include "slots/exchange.h"

struct halo {
    struct domain domain;
    struct block block; /* of this rank */
    int count;          /* messages of a pass */
    struct direction directions[DIRECTIONS_MAX];
    int to[DIRECTIONS_MAX], from[DIRECTIONS_MAX];
    /* Datatypes by direction: the sent part, the ghosts filled here, the ghosts filled at the
     * neighbour. */
    MPI_Datatype sent[DIRECTIONS_MAX], filled[DIRECTIONS_MAX], filled_there[DIRECTIONS_MAX];
    int ones[DIRECTIONS_MAX]; /* counts of the types in messages; weights of edges */
    MPI_Comm graph;           /* of the neighbours; MPI_COMM_NULL without a collective */
    bool updates;             /* each pass ends with an update of all points */
    struct team team;
    const struct exchange *exchange; /* of the running update, and its pass */
    int pass;
    int64_t mask;    /* of the results: no bit is set, or all bits are */
    int64_t *result; /* of the update; with the exchange's number of slots */
    double communication_s;
    struct series *communication;
};

/* The halo of the running cell. */
extern struct halo halo;

/* The points of a block for each pass, and their verification. */
extern const struct contents points;

/* A thread's part of an update: each point becomes the sum of itself and its 8 or 26 neighbours. */
void update_part(void *state, int number);

/* The number of points of the largest block. */
size_t points_of_slot(int ranks);

/* All ranks: choose the messages of a pass and make their types; false, with the reason in the
 * record, if the cell cannot run. Then: record their number and bytes; free them. */
bool messages_describe(struct exchange *exchange);
void messages_keep(struct exchange *exchange, long long burst);
void messages_free(void);

/* ---- Inlined into the timed loops ---- */

INLINE double begin_pass(void)
{
    return halo.updates ? clock_now_s() : 0;
}

INLINE void update(const struct exchange *exchange, int pass)
{
    halo.exchange = exchange;
    halo.pass = pass;
    team_run(&halo.team);
}

INLINE void end_pass(const struct exchange *exchange, int pass, double begin_s)
{
    if (halo.updates) {
        halo.communication_s += clock_now_s() - begin_s;
        update(exchange, pass);
    }
}

INLINE void put_block(const struct exchange *exchange, int i, int pass)
{
    CHECKED(MPI_Put(outgoing(exchange, pass), 1, halo.sent[i], halo.to[i],
                    displacement(exchange, halo.to[i], slot_of(exchange, false, pass)), 1,
                    halo.filled_there[i], exchange->window.handle));
}

#endif
