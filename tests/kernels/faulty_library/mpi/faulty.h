/* The faulty MPI: what its files share. */
#ifndef ONESIDED_FAULTY_H
#define ONESIDED_FAULTY_H

#include <mpi.h>
#include <stddef.h>

#include "../fault.h"

/* Data of a call; `address` is NULL without data. */
struct data {
    void *address;
    MPI_Aint count;
    MPI_Datatype type;
    const void *compared; /* the result of a compare-and-swap that swaps; NULL elsewhere */
};

/* The use of data in a call. */
struct carried {
    struct data sent;
    struct data got;
    MPI_Op operation; /* MPI_OP_NULL: none */
    int is_message;   /* it cannot be left out: another rank waits for it (2: it is a file's) */
};

/* Arrive in a call of MPI; `carried` may be NULL. */
enum fault arrive_in_mpi(struct call *call, const struct carried *carried);

/* Data that exist. The harness's own values, and a kernel's times, sizes and flags, go by
 * collective calls with other types: these are no payload. */
struct data data_of(const void *address, MPI_Aint count, MPI_Datatype type);
struct data payload_of(const void *address, MPI_Aint count, MPI_Datatype type);

/* Change the first element in place; for ALTER, change the last element. The lowest byte changes
 * and, of eight bytes, also the highest. */
void flip(struct data data);

/* A copy of the data with the last element changed; it is never freed. */
void *flipped_copy(struct data data);

/* As many zero bytes; never freed. */
void *blank_copy(struct data data);

/* Change a result when it is complete: with `request`, or, if `request` is NULL, with the next call
 * that completes operations of a window. */
void flip_later(struct data data, const MPI_Request *request);

/* The old content of a result: the data of the previous call, or else of the result's buffer. */
struct old {
    struct data stale;
    void *packed;
    int packed_bytes;
};

/* The result of a function's previous call in this cell. */
struct before {
    struct data data;
    MPI_Aint bytes;
    long cell;
};

/* Return the data of the previous call, if it was in this cell and had as many bytes elsewhere.
 * Then keep these data as those of the previous call. */
struct data data_before(struct before *before, struct data data);

/* Data sent by a function's previous call: a copy, because the buffer may have new data. */
struct sent {
    unsigned char *copy; /* for the same addresses from its own on */
    MPI_Aint begin;      /* the first of them */
    MPI_Aint bytes;
    long cell;
};

/* Keep a copy of the data for the next call. If the requested fault is STALE, return the data of
 * the previous call, if they are of this cell and as many; else return NULL. */
const void *sent_before(struct sent *before, struct data data, enum fault asked);

/* The effect of a requested fault in a call with these data; `old` keeps the content that a result
 * must get. A message's data are lost after their arrival, because another rank waits for it. */
enum fault fault_of_data(enum fault asked, const struct carried *carried, const void *stale_sent,
                         struct old *old);

/* Give a result its old content, at once or when the result is complete. */
void put_back(struct data result, const struct old *old);
void put_back_later(struct data result, const MPI_Request *request, const struct old *old);

/* Report later whether a compare-and-swap swapped: if not, nobody uses the sent data. Of two calls
 * that are the same, the second one gets the new value if the first one swapped. */
void tell_later(const struct carried *carried, int is_repeated);

/* To be called after the completion of all operations, or of one request (its old value). */
void flip_what_is_complete(void);
void flip_result_of(MPI_Request request);

/* Delay a put or a get until the next call of another kind. */
void hold_put(struct data origin, int target, MPI_Aint place, int count, MPI_Datatype type,
              MPI_Win window);
void hold_get(struct data origin, int target, MPI_Aint place, int count, MPI_Datatype type,
              MPI_Win window);
void make_what_is_held(void);

/* A request that is complete already. */
int complete_request(MPI_Request *request);

/* Arrive in a call; return if the call must do nothing. `fault_` gets the fault. */
#define ARRIVE(fault_, call, carried)                                                              \
    const enum fault fault_ = arrive_in_mpi(call, carried);                                        \
    if (fault_ == FALSE_SUCCESS || fault_ == ERROR) {                                              \
        return fault_ == ERROR ? MPI_ERR_OTHER : MPI_SUCCESS;                                      \
    }                                                                                              \
    (void)fault_

#endif
