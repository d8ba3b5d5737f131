/* A watchdog that is no thread: signal handlers say where a rank stood when it hung or died.
 *
 * A thread would need MPI_THREAD_MULTIPLE, and would change what is measured. The handler of a
 * POSIX timer writes FILE.hang-<rank>, one JSON line with the cell, the phase and the MPI call in
 * flight, by async-signal-safe means alone, and ends the process with exit code 5. A process that
 * dies of a signal of its own, or that exits before MPI_Finalize has returned, leaves the same with
 * the signal (null: it exited) in FILE.crash-<rank>; then it dies as it would have without. */
#ifndef ONESIDED_WATCHDOG_H
#define ONESIDED_WATCHDOG_H

#include <mpi.h>

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

/* The phase and the call a hang or an error would be booked to. The texts must stay. */
extern const char *volatile watchdog_phase;
extern const char *volatile watchdog_call;

/* End the launch, and leave where this rank gave up. */
_Noreturn void watchdog_abort(void);

/* Report an MPI error with its phase, call and cell, and end the launch. */
_Noreturn void mpi_failed(const char *call, int code);

/* Make an MPI call of the main thread: it is known to the watchdog, and its code is checked.
 * All communicators and windows return errors (MPI_ERRORS_RETURN). */
#define CHECKED(call)                                                                              \
    do {                                                                                           \
        watchdog_call = #call;                                                                     \
        const int checked_code = (call);                                                           \
        watchdog_call = NULL;                                                                      \
        if (checked_code != MPI_SUCCESS) {                                                         \
            mpi_failed(#call, checked_code);                                                       \
        }                                                                                          \
    } while (0)

#endif
