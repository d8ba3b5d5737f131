/* Calls of OpenSHMEM, which return no code, and which the watchdog knows. */
#ifndef ONESIDED_CALLED_H
#define ONESIDED_CALLED_H

#include <shmem.h>

#include "harness/watchdog.h"

/* Make a call. Only the main thread makes collective calls. */
#define CALLED(call)                                                                               \
    do {                                                                                           \
        BEGIN_CALL(call);                                                                          \
        call;                                                                                      \
        END_CALL();                                                                                \
    } while (0)

/* The same for a call with a result; the watchdog shows only the text of the call. */
#define CALLED_FOR(result, call)                                                                   \
    do {                                                                                           \
        BEGIN_CALL(call);                                                                          \
        result = call;                                                                             \
        END_CALL();                                                                                \
    } while (0)

#endif
