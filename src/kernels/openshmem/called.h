/* Calls of OpenSHMEM, which return no code, and which the watchdog knows of. */
#ifndef ONESIDED_CALLED_H
#define ONESIDED_CALLED_H

#include <shmem.h>

#include "harness/watchdog.h"

/* Make a call. Collective calls are the main thread's. */
#define CALLED(call)                                                                               \
    do {                                                                                           \
        BEGIN_CALL(call);                                                                          \
        call;                                                                                      \
        END_CALL();                                                                                \
    } while (0)

/* The same for a call that returns something: the watchdog shows the text of the call alone. */
#define CALLED_FOR(result, call)                                                                   \
    do {                                                                                           \
        BEGIN_CALL(call);                                                                          \
        result = call;                                                                             \
        END_CALL();                                                                                \
    } while (0)

#endif
