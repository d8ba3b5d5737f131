/* A watchdog that is no thread: signal handlers say where a rank stood when it hung or died.
 *
 * A thread would need MPI_THREAD_MULTIPLE, and would change what is measured. The handler of a
 * POSIX timer writes FILE.hang-<rank>, one JSON line with the cell, the phase, the MPI call in
 * flight and how many collective calls were begun, by async-signal-safe means alone, waits for the
 * other ranks to do the same, and ends the process with exit code 5. A process that
 * dies of a signal of its own, or that exits before MPI_Finalize has returned, leaves the same with
 * the signal (null: it exited) in FILE.crash-<rank>; then it dies as it would have without. */
#ifndef ONESIDED_WATCHDOG_H
#define ONESIDED_WATCHDOG_H

#include <mpi.h>
#include <string.h>

#define EXIT_HANG 5

/* Report deaths from here on: before MPI_Init_thread, with the rank the launcher told. `output` may
 * be NULL: the lines then go to standard error. */
void watchdog_open(const char *program, const char *output, int rank);

/* Prepare the timer, and report deaths again whatever handlers MPI has installed: after
 * MPI_Init_thread. */
void watchdog_arm(int rank, double timeout_s);

/* Begin a cell (NULL: none, as in start-up and finalisation) and give it the whole time again. */
void watchdog_cell(const char *cell_id);

/* After MPI_Finalize: neither hang nor exit is reported any more. */
void watchdog_close(void);

/* The phase and the call a hang or an error would be booked to. The texts must stay. A phase is the
 * main thread's; a call is each thread's own, and that of the main thread is the one that hangs. */
extern const char *volatile watchdog_phase;
extern _Thread_local const char *volatile watchdog_call;

/* How many collective calls this rank has begun. All ranks make the same ones in the same order, so
 * that of ranks that hang the one with the fewest is behind, and the others may wait for it. */
extern volatile long watchdog_collectives;

/* Does the text of a call name a collective one? Known when compiled, in CHECKED: the calls of a
 * timed section cost nothing more for it. */
#define BEGINS_WITH(text, name) (strncmp(text, name, sizeof(name) - 1) == 0)
#define IS_COLLECTIVE(text)                                                                        \
    (BEGINS_WITH(text, "MPI_Barrier") || BEGINS_WITH(text, "MPI_Bcast") ||                         \
     BEGINS_WITH(text, "MPI_Allreduce") || BEGINS_WITH(text, "MPI_Allgather") ||                   \
     BEGINS_WITH(text, "MPI_Gather") || BEGINS_WITH(text, "MPI_Scatter") ||                        \
     BEGINS_WITH(text, "MPI_Reduce") || BEGINS_WITH(text, "MPI_Comm_dup") ||                       \
     BEGINS_WITH(text, "MPI_Comm_split") || BEGINS_WITH(text, "MPI_Comm_free") ||                  \
     BEGINS_WITH(text, "MPI_Win_create") || BEGINS_WITH(text, "MPI_Win_allocate") ||               \
     BEGINS_WITH(text, "MPI_Win_fence") || BEGINS_WITH(text, "MPI_Win_free") ||                    \
     BEGINS_WITH(text, "MPI_Finalize"))

/* End the launch, and leave where this rank gave up. */
_Noreturn void watchdog_abort(void);

/* Report an MPI error with its phase, call and cell, and end the launch. */
_Noreturn void mpi_failed(const char *call, int code);

/* Make an MPI call: it is known to the watchdog, and its code is checked. Collective calls are the
 * main thread's.
 * All communicators and windows return errors (MPI_ERRORS_RETURN). */
#define CHECKED(call)                                                                              \
    do {                                                                                           \
        if (IS_COLLECTIVE(#call)) {                                                                \
            watchdog_collectives++;                                                                \
        }                                                                                          \
        watchdog_call = #call;                                                                     \
        const int checked_code = (call);                                                           \
        watchdog_call = NULL;                                                                      \
        if (checked_code != MPI_SUCCESS) {                                                         \
            mpi_failed(#call, checked_code);                                                       \
        }                                                                                          \
    } while (0)

#endif
