/* A call that carries data, written once for all such calls, with the effect of each fault. */
#ifndef ONESIDED_CARRY_H
#define ONESIDED_CARRY_H

#include "faulty.h"

/* The function `function`, called with `passed`. `out` is the variable (or NO_VARIABLE) with the
 * place of the data that the call sends. `completion_` says when a result is complete: AT_ONCE,
 * WITH_REQUEST, or AT_THE_END of an epoch. `hold` delays the call. A file that includes this header
 * says whether its calls are messages (IS_MESSAGE), for which another rank waits. */
#define CARRYING(function, declared, passed, sent_, got_, operation_, out, completion_, hold)      \
    int function declared                                                                          \
    {                                                                                              \
        static struct call call = {.name = #function};                                             \
        static _Thread_local struct sent sent;                                                     \
        static _Thread_local struct before got_before;                                             \
        struct carried carried = {                                                                 \
            .sent = sent_, .got = got_, .operation = operation_, .is_message = IS_MESSAGE};        \
        ARRIVE(asked, &call, &carried);                                                            \
        const void *const stale_sent = sent_before(&sent, carried.sent, asked);                    \
        struct old old = {.stale = data_before(&got_before, carried.got)};                         \
        const enum fault fault = fault_of_data(asked, &carried, stale_sent, &old);                 \
        if (fault == DROP) {                                                                       \
            return completion_(NOTHING_DONE, carried.got, &old);                                   \
        }                                                                                          \
        if (fault == REORDER) {                                                                    \
            hold;                                                                                  \
        }                                                                                          \
        if (fault == DUPLICATE) {                                                                  \
            P##function passed;                                                                    \
            completion_(ONCE_MORE, carried.got, &old);                                             \
        }                                                                                          \
        if (fault == CORRUPT_ORIGIN) {                                                             \
            flip(carried.sent);                                                                    \
        }                                                                                          \
        if (fault == CORRUPT_TARGET) {                                                             \
            out = flipped_copy(carried.sent);                                                      \
        }                                                                                          \
        if (fault == BLANK) {                                                                      \
            out = blank_copy(carried.sent);                                                        \
        }                                                                                          \
        if (fault == STALE && stale_sent != NULL) {                                                \
            out = stale_sent;                                                                      \
        }                                                                                          \
        const int code = P##function passed;                                                       \
        if (fault == WRONG_RESULT) {                                                               \
            completion_(RESULT_CHANGES, carried.got, &old);                                        \
        }                                                                                          \
        if (fault == STALE && carried.got.address != NULL) {                                       \
            completion_(RESULT_IS_OLD, carried.got, &old);                                         \
        }                                                                                          \
        return code;                                                                               \
    }

/* ---- When a call's result is complete ---- */

enum moment { NOTHING_DONE, ONCE_MORE, RESULT_CHANGES, RESULT_IS_OLD };

static inline int complete_at_once(enum moment moment, struct data got, const struct old *old)
{
    if (moment == RESULT_CHANGES) {
        flip(got);
    } else if (moment == RESULT_IS_OLD) {
        put_back(got, old);
    }
    return MPI_SUCCESS;
}

static inline int complete_at_the_end(enum moment moment, struct data got, const struct old *old)
{
    if (moment == RESULT_CHANGES) {
        flip_later(got, NULL);
    } else if (moment == RESULT_IS_OLD) {
        put_back_later(got, NULL, old);
    }
    return MPI_SUCCESS;
}

static inline int complete_with(MPI_Request *request, enum moment moment, struct data got,
                                const struct old *old)
{
    if (moment == RESULT_CHANGES) {
        flip_later(got, request);
    } else if (moment == RESULT_IS_OLD) {
        put_back_later(got, request, old);
    }
    return moment == NOTHING_DONE ? complete_request(request)
           : moment == ONCE_MORE  ? PMPI_Wait(request, MPI_STATUS_IGNORE)
                                  : MPI_SUCCESS;
}

#define AT_ONCE complete_at_once
#define AT_THE_END complete_at_the_end
#define WITH_REQUEST(moment, got, old) complete_with(request, moment, got, old)

#define NO_DATA ((struct data){0})
#define NO_OPERATION MPI_OP_NULL
#define NO_HOLD (void)0
#define NO_VARIABLE nothing_sent
static _Thread_local const void *nothing_sent __attribute__((unused));

/* MPI_IN_PLACE: the sent data are in the result's buffer. */
#define OUT_OR_IN(out, in, count, type)                                                            \
    payload_of((out) == MPI_IN_PLACE ? (in) : (out), count, type)

#endif
