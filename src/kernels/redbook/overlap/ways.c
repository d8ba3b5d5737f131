/* How an origin transfers: calls that begin the transfer of a slot, and calls that wait for its
 * end. */
#include "redbook/overlap/overlap.h"

static void begin_send(struct overlap *own, long long slot)
{
    const struct slots *slots = &own->slots;
    CHECKED(MPI_Isend(SLOT_HERE(payload), TARGET, 0, world_communicator, &own->request));
}

/* The end of a send says nothing about the arrival of its data, so rank 0 answers. */
static void end_send(struct overlap *own, long long slot)
{
    (void)slot;
    CHECKED(MPI_Wait(&own->request, MPI_STATUS_IGNORE));
    CHECKED(MPI_Recv(NULL, 0, MPI_BYTE, TARGET, REPLY_TAG, world_communicator, MPI_STATUS_IGNORE));
}

static void begin_put(struct overlap *own, long long slot)
{
    put_slot(&own->slots, slot);
}

static void begin_rput(struct overlap *own, long long slot)
{
    const struct slots *slots = &own->slots;
    CHECKED(MPI_Rput(SLOT_HERE(payload), SLOT_THERE, slots->transfer.epoch.window, &own->request));
}

static void begin_get(struct overlap *own, long long slot)
{
    get_slot(&own->slots, slot);
}

static void flush(struct overlap *own, long long slot)
{
    (void)slot;
    CHECKED(MPI_Win_flush(TARGET, own->slots.transfer.epoch.window));
}

static void end_rput(struct overlap *own, long long slot)
{
    CHECKED(MPI_Wait(&own->request, MPI_STATUS_IGNORE));
    flush(own, slot);
}

const struct way ways[WAYS] = {
    {.name = "isend", .sends = true, .begin = begin_send, .end = end_send},
    {.name = "put", .begin = begin_put, .end = flush},
    {.name = "rput", .begin = begin_rput, .end = end_rput},
    {.name = "get", .gets = true, .begin = begin_get, .end = flush},
    {.name = "thread_send", .sends = true, .by_thread = true, .begin = begin_send, .end = end_send},
    {.name = "thread_put", .by_thread = true, .begin = begin_put, .end = flush},
};
