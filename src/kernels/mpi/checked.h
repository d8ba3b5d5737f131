/* MPI calls whose code is checked, and which the watchdog knows of. */
#ifndef ONESIDED_CHECKED_H
#define ONESIDED_CHECKED_H

#include <mpi.h>

#include "harness/watchdog.h"

/* Report an MPI error with its phase, call and cell, and end the launch. */
_Noreturn void mpi_failed(const char *call, int code);

/* The call that has begun, to its end. */
#define CHECK_CODE_OF(name_, call)                                                                 \
    const int checked_code = (call);                                                               \
    END_CALL();                                                                                    \
    if (checked_code != MPI_SUCCESS) {                                                             \
        mpi_failed((name_), checked_code);                                                         \
    }

/* Make an MPI call: it is known to the watchdog, and its code is checked. Collective calls are the
 * main thread's.
 * All communicators and windows return errors (MPI_ERRORS_RETURN). */
#define CHECKED(call)                                                                              \
    do {                                                                                           \
        BEGIN_CALL(call);                                                                          \
        CHECK_CODE_OF(#call, call)                                                                 \
    } while (0)

/* The same of a collective call that not all ranks make: it is not counted, for the counts tell
 * which rank is behind. */
#define CHECKED_OF_SOME(call)                                                                      \
    do {                                                                                           \
        watchdog_collectives--;                                                                    \
        CHECKED(call);                                                                             \
    } while (0)

/* The same of a collective call that threads make at once, each on a communicator of its own: their
 * order differs between ranks, and it is not counted, either. */
#define CHECKED_OF_THREADS(call)                                                                   \
    do {                                                                                           \
        watchdog_call = #call;                                                                     \
        CHECK_CODE_OF(#call, call)                                                                 \
    } while (0)

/* Make a call that may fail, with its code left in `code_`: of a file, say, with no space left. */
#define TRIED(code_, call)                                                                         \
    do {                                                                                           \
        BEGIN_CALL(call);                                                                          \
        (code_) = (call);                                                                          \
        END_CALL();                                                                                \
    } while (0)

#endif
