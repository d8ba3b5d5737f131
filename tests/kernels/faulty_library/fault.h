/* A faulty library, for LD_PRELOAD. The calls of a kernel come here first, and one of them
 * fails as in a bad library or on a bad machine. A variable chooses the fault:
 *
 *   ONESIDED_FAULT="KIND CALL COUNT RANK"         such as "drop MPI_Put 3 1"
 *   ONESIDED_FAULT="KIND CALL COUNT RANK CELL"    in the cell with this index, or in "every" cell
 *
 * KIND is a name of `enum fault`, in small letters.
 *
 * CALL is one call, several calls with commas between them, or "any": each call that carries data
 * of the kernel. A kernel makes some calls outside MPI and OpenSHMEM, and these can have a fault,
 * too: clock_gettime, memcpy (of whole words), pread, pwrite, send and pthread_create.
 *
 * COUNT is the number of the call. It begins with 1 in each cell. "each" means every call, and
 * "3/20" means the third call of each twenty. For a fault of data, only calls with data count.
 *
 * RANK is a number, "all", or "1/others": the threads of rank 1 except the main thread.
 *
 * The library knows the cell from the kernel's lines, in the file that the command line names: no
 * rank begins a cell before the line of this cell is there.
 *
 * ONESIDED_FAULT_REPORT is a file. The library adds a line when a fault is made, and at the end of
 * each rank a line with the number of times that each call was made. This header and fault.c are
 * the same for every library. */
#ifndef ONESIDED_FAULT_H
#define ONESIDED_FAULT_H

#include <stddef.h>

enum fault {
    NO_FAULT,
    /* in any call */
    HANG,          /* it does not return */
    CRASH,         /* a fault of memory in it */
    ABORT,         /* it ends the process by abort() */
    EXIT,          /* it ends the process */
    ERROR,         /* it does nothing and returns an error */
    FATAL,         /* it has an error that ends the launch */
    DELAY,         /* it takes DELAY_MS more */
    SLOW,          /* it takes SLOW_US more, and uses the core */
    FALSE_SUCCESS, /* it does nothing and returns success */
    /* where a call carries data */
    DROP,           /* it does nothing and returns success; a request is complete at once */
    DUPLICATE,      /* it is made twice */
    REORDER,        /* it is made after the puts and gets that directly follow it */
    CORRUPT_ORIGIN, /* an element of the sent data changes in the origin's buffer */
    CORRUPT_TARGET, /* an element of the sent data changes on its way */
    WRONG_RESULT,   /* an element of the result changes when the result is complete */
    LOSE,           /* its data do not arrive, and no rank waits for them */
    STALE,          /* the data of the call before arrive instead */
    ALTER,          /* its last element changes on its way */
    BLANK,          /* zeros arrive instead */
    IN_TURN,        /* LOSE, STALE and ALTER, from cell to cell */
    /* in one call each */
    LOWER_LEVEL, /* MPI_Init_thread provides MPI_THREAD_SINGLE and says so */
    FALSE_LEVEL, /*   or it says that it provides what was required */
    ONE_RANK,    /* MPI_Comm_size says 1 */
    MORE_RANKS,  /*   or one more than there are */
    FAULTS
};

#define DELAY_MS 20
#define SLOW_US 20

/* One function, and how often this rank has called it. */
struct call {
    const char *name;
    const struct call *next;
    int is_known;
    long calls;
    long carrying; /* calls that send or get data, */
    long sending;
    long getting;
};

/* The use of data in a call. */
struct facts {
    int sends;
    int gets;
    int is_payload;        /* the kernel verifies the data: CALL "any" includes them */
    int is_last;           /* the library's last call: the number of calls is reported */
    const char *operation; /* of an accumulate call, or "none" */
};

/* Count a call, and make faults that need no arguments of the call, such as a hang; `facts` may be
 * NULL. Return the fault that the caller must make, or NO_FAULT. */
enum fault arrive(struct call *call, const struct facts *facts);

/* To be called after a barrier: which cell is this? */
void look_for_cell(void);

/* Whether a cell is under way; known only if the fault has a cell. */
int is_in_cell(void);

/* Whether a fault may be STALE: then sent data are kept. */
int may_be_stale(void);

/* How many cells this rank has begun; counted only if the fault has a cell. */
extern long cells_begun;

/* A line of the report, in one piece. */
void report(const char *line, size_t length);

#endif
