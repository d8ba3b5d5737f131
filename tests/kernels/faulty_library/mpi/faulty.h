/* The faulty MPI: what its files share. */
#ifndef ONESIDED_FAULTY_H
#define ONESIDED_FAULTY_H

#include <mpi.h>
#include <stddef.h>

#include "../fault.h"

/* Data of a call; `address` is NULL where there are none. */
struct data {
    void *address;
    MPI_Aint count;
    MPI_Datatype type;
    const void *compared; /* with the result of a compare-and-swap; NULL elsewhere */
};

/* What a call does with data. */
struct carried {
    struct data sent;
    struct data got;
    MPI_Op operation; /* MPI_OP_NULL: none */
    int is_message;   /* it cannot be left out: another rank waits for it (2: it is a file's) */
};

/* Arrive in a call of MPI; `carried` may be NULL. */
enum fault arrive_in_mpi(struct call *call, const struct carried *carried);

/* Data that are there. What the harness says among its ranks, and the times, sizes and flags of a
 * kernel, go by collective calls of other types: those are no payload. */
struct data data_of(const void *address, MPI_Aint count, MPI_Datatype type);
struct data payload_of(const void *address, MPI_Aint count, MPI_Datatype type);

/* Change the first element, in place, or of ALTER the last: its lowest byte and, of eight bytes,
 * its highest. */
void flip(struct data data);

/* A copy of the data with the last element changed; it is never freed. */
void *flipped_copy(struct data data);

/* As many bytes that are all 0; never freed. */
void *blank_copy(struct data data);

/* Change what is got once it is complete: when `request` is, or where that is NULL with the next
 * call that completes operations of a window. */
void flip_later(struct data data, const MPI_Request *request);

/* What a result was before it came: the data of the call before, or else what lay there. */
struct old {
    struct data stale;
    void *packed;
    int packed_bytes;
};

/* The result of a function's call before, in this cell. */
struct before {
    struct data data;
    MPI_Aint bytes;
    long cell;
};

/* The data of the call before, if there are any in this cell, elsewhere and as many; then these are
 * those of the call before. */
struct data data_before(struct before *before, struct data data);

/* What a function's call before has sent: a copy, as its buffer may have new data since then. */
struct sent {
    unsigned char *copy; /* for the same addresses from its own on */
    MPI_Aint begin;      /* the first of them */
    MPI_Aint bytes;
    long cell;
};

/* Keep a copy of the data for the next call, and return, where the fault that is asked for is
 * STALE, what the call before has sent if it is of this cell and as much; else NULL. */
const void *sent_before(struct sent *before, struct data data, enum fault asked);

/* What a fault that is asked for is in a call with these data; `old` keeps what a result is to be.
 * Data of a message are lost when they have come: another rank waits for that. */
enum fault fault_of_data(enum fault asked, const struct carried *carried, const void *stale_sent,
                         struct old *old);

/* Make a result what it was before, at once or when it is complete. */
void put_back(struct data result, const struct old *old);
void put_back_later(struct data result, const MPI_Request *request, const struct old *old);

/* Report then whether a compare-and-swap has swapped: if not, nobody uses what it has sent. */
void tell_later(struct data result);

/* To be called after what completes: all operations, or one request as it was before. */
void flip_what_is_complete(void);
void flip_result_of(MPI_Request request);

/* Put off a put or a get; it is made at the next call of another kind. */
void hold_put(struct data origin, int target, MPI_Aint place, int count, MPI_Datatype type,
              MPI_Win window);
void hold_get(struct data origin, int target, MPI_Aint place, int count, MPI_Datatype type,
              MPI_Win window);
void make_what_is_held(void);

/* A request that is complete already. */
int complete_request(MPI_Request *request);

/* Arrive in a call, and return where it does nothing at all; its fault is left in `fault_`. */
#define ARRIVE(fault_, call, carried)                                                              \
    const enum fault fault_ = arrive_in_mpi(call, carried);                                        \
    if (fault_ == FALSE_SUCCESS || fault_ == ERROR) {                                              \
        return fault_ == ERROR ? MPI_ERR_OTHER : MPI_SUCCESS;                                      \
    }                                                                                              \
    (void)fault_

#endif
