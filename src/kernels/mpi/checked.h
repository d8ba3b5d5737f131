/* MPI calls whose return code is checked, and which the watchdog knows. */
#ifndef ONESIDED_CHECKED_H
#define ONESIDED_CHECKED_H

#include <mpi.h>

#include "harness/watchdog.h"

/* Report an MPI error with its phase, call and cell, and end the launch. */
_Noreturn void mpi_failed(const char *call, int code);

/* Make the call that BEGIN_CALL has begun, and check its code. */
#define CHECK_CODE_OF(name_, call)                                                                 \
    const int checked_code = (call);                                                               \
    END_CALL();                                                                                    \
    if (checked_code != MPI_SUCCESS) {                                                             \
        mpi_failed((name_), checked_code);                                                         \
    }

/* Make an MPI call: the watchdog knows the call, and its code is checked. Only the main thread
 * makes collective calls. All communicators and windows return errors (MPI_ERRORS_RETURN). */
#define CHECKED(call)                                                                              \
    do {                                                                                           \
        BEGIN_CALL(call);                                                                          \
        CHECK_CODE_OF(#call, call)                                                                 \
    } while (0)

/* The same for a collective call that only some ranks make. It is not counted, because the counts
 * show which rank is behind. */
#define CHECKED_OF_SOME(call)                                                                      \
    do {                                                                                           \
        watchdog_collectives--;                                                                    \
        CHECKED(call);                                                                             \
    } while (0)

/* The same for collective calls of several threads, each on a communicator of its own. These are
 * not counted either, because their order differs between ranks. */
#define CHECKED_OF_THREADS(call)                                                                   \
    do {                                                                                           \
        watchdog_call = #call;                                                                     \
        CHECK_CODE_OF(#call, call)                                                                 \
    } while (0)

/* Make a call that may fail, such as a write to a full disk; its code is left in `code_`. */
#define TRIED(code_, call)                                                                         \
    do {                                                                                           \
        BEGIN_CALL(call);                                                                          \
        (code_) = (call);                                                                          \
        END_CALL();                                                                                \
    } while (0)

#endif
