/* A faulty MPI, for LD_PRELOAD: every call that kernels make comes here first, and one of them
 * does what a bad library would. Which fault is put in says the variable
 *
 *   ONESIDED_FAULT="KIND CALL COUNT RANK"       such as "drop MPI_Put 3 1"; RANK may be "all"
 *
 * COUNT begins with 1. It counts the calls, and where a fault concerns data, those of the calls
 * that carry any. ONESIDED_FAULT_REPORT is a file that gets a line when the fault is put in, and
 * at the end of each rank a line with how often each call was made. */
#ifndef ONESIDED_FAULTY_H
#define ONESIDED_FAULTY_H

#include <mpi.h>
#include <stddef.h>

enum fault {
    NO_FAULT,
    /* in any call */
    HANG,          /* it does not return */
    CRASH,         /* a fault of memory in it */
    EXIT,          /* it ends the process */
    ERROR,         /* it does nothing and returns an error */
    DELAY,         /* it takes DELAY_MS more */
    FALSE_SUCCESS, /* it does nothing and returns success */
    /* where a call carries data */
    DROP,           /* it does nothing and returns success; a request is complete at once */
    DUPLICATE,      /* it is made twice */
    REORDER,        /* it is made after the puts and gets that follow it without another call */
    CORRUPT_ORIGIN, /* before the call an element changes of what is sent, where it lies */
    CORRUPT_TARGET, /* an element of what is sent arrives otherwise */
    WRONG_RESULT,   /* an element changes of what was got, when it is complete */
    /* in one call each */
    LOWER_LEVEL, /* MPI_Init_thread provides MPI_THREAD_SINGLE and says so */
    FALSE_LEVEL, /*   or it says that it provides what was required */
    ONE_RANK,    /* MPI_Comm_size says 1 */
    MORE_RANKS,  /*   or one more than there are */
    FAULTS
};

#define DELAY_MS 20

/* One function of MPI, and how often this rank has called it. */
struct call {
    const char *name;
    const struct call *next;
    int is_known;
    long calls;
    long carrying; /* of them: that send or get data, */
    long sending;
    long getting;
};

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
};

/* Count a call, and do what needs no arguments of it, such as to hang; `carried` may be NULL.
 * Return the fault that is left to the caller, or NO_FAULT. */
enum fault arrive(struct call *call, const struct carried *carried);

/* Data that are there. What the harness says among its ranks, and the times, sizes and flags of a
 * kernel, go by collective calls of other types: those are no payload. */
struct data data_of(const void *address, MPI_Aint count, MPI_Datatype type);
struct data payload_of(const void *address, MPI_Aint count, MPI_Datatype type);

/* A line of the report. */
void report(const char *line, size_t length);

/* Change the first element, in place: its lowest byte and, of eight bytes, its highest. */
void flip(struct data data);

/* A copy of the data with the last element changed; it is never freed. */
void *flipped_copy(struct data data);

/* Change what is got once it is complete: when `request` is, or where that is NULL with the next
 * call that completes operations of a window. */
void flip_later(struct data data, const MPI_Request *request);

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
    const enum fault fault_ = arrive(call, carried);                                               \
    if (fault_ == FALSE_SUCCESS || fault_ == ERROR) {                                              \
        return fault_ == ERROR ? MPI_ERR_OTHER : MPI_SUCCESS;                                      \
    }                                                                                              \
    (void)fault_

#endif
