/* What the files of the kernel `overlap` share: a way to transfer, and what rank 0 does. */
#ifndef ONESIDED_OVERLAP_H
#define ONESIDED_OVERLAP_H

#include "mpi/team.h"
#include "mpi/world.h"
#include "slots/accesses.h"
#include "slots/bursts.h"

#define REPLY_TAG 1

struct overlap;

/* How an origin transfers: a row of the axis. */
struct way {
    const char *name;
    bool sends;     /* a message, which rank 0 receives and answers; else one-sided */
    bool gets;      /* one-sided, from rank 0; else to rank 0 */
    bool by_thread; /* a second thread makes the whole transfer while the main thread computes */
    /* Begin the transfer of a slot, and wait until it is complete at both sides. */
    void (*begin)(struct overlap *own, long long slot);
    void (*end)(struct overlap *own, long long slot);
};
#define WAYS 6
#define ONE_SIDED "put,rput,get,thread_put"
extern const struct way ways[WAYS];

/* What rank 0 does while an origin transfers and computes: a row of the axis. */
struct peer {
    const char *name;
    bool sleeps; /* rank 0 needs no core */
    /* NULL: rank 0 is in MPI; else it stays outside MPI while an origin computes. */
    void (*stay_outside)(struct overlap *own);
};
#define PEERS 3
extern const struct peer peers[PEERS];

struct overlap {
    struct slots slots; /* first */
    const struct way *way;
    const struct peer *peer;
    double length_s;                               /* of a compute */
    MPI_Request request;                           /* at an origin: of the running transfer */
    MPI_Request *receives;                         /* at rank 0: by slot and origin */
    struct team team;                              /* of this rank: one thread, or two */
    long long slot;                                /* slot of the team's task */
    void (*prepare)(void *state, long long burst); /* as for any writes */
};

INLINE void compute_once(struct overlap *own)
{
    compute_slice(&own->slots.launch->compute, own->length_s);
}

/* Does rank 0 have a second thread that receives while the main thread is outside MPI? */
bool peer_has_thread(const struct overlap *own);

/* At rank 0, untimed, before a burst: post the receives of messages. */
void peer_prepare(struct overlap *own, long long burst);

/* At rank 0, in a burst: receive messages; `is_both`: stay outside MPI meanwhile, as `peer`
 * says. */
void peer_take_part(struct overlap *own, long long burst, bool is_both);

#endif
