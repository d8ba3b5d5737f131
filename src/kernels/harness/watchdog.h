/* A watchdog that is no thread: a POSIX timer whose signal handler says where the rank stands.
 *
 * A thread would need MPI_THREAD_MULTIPLE, and would change what is measured. The handler writes
 * FILE.hang-<rank>, one JSON line with the cell, the phase and the MPI call in flight, by
 * async-signal-safe means alone, and ends the process with exit code 5. */
#ifndef ONESIDED_WATCHDOG_H
#define ONESIDED_WATCHDOG_H

#include <mpi.h>

#define EXIT_HANG 5

/* Prepare the timer; `output` may be NULL: the line then goes to standard error. */
void watchdog_open(const char *program, const char *output, int rank, double timeout_s);

/* Begin a cell (NULL: none, as in start-up and finalisation) and give it the whole time again. */
void watchdog_cell(const char *cell_id);
void watchdog_close(void);

/* The phase and the call a hang or an error would be booked to. The texts must stay. */
extern const char *volatile watchdog_phase;
extern const char *volatile watchdog_call;

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
