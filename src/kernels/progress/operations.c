/* Operations: what the origin does to the target's window. Every MPI call that accesses it is here,
 * and every call that is timed. */
#include "harness/clock.h"
#include "harness/watchdog.h"
#include "progress/experiment.h"
#include "progress/payload.h"

/* Each operation has a loop of its own, with no call through a pointer in it: these functions
 * become a part of it. */
#define INLINE static inline __attribute__((always_inline))

/* ---- The calls around an operation ---- */

/* A fence that was opened before is not opened again. */
INLINE void begin_epoch(const struct experiment *experiment, enum calls calls, bool opened)
{
    if (calls == LOCK_UNLOCK) {
        CHECKED(MPI_Win_lock(experiment->synchronisation->lock_type, experiment->target,
                             experiment->synchronisation->assertion, experiment->window));
    } else if (calls == START_COMPLETE) {
        CHECKED(MPI_Win_start(experiment->peers, 0, experiment->window));
    } else if (calls == FENCE_FENCE && !opened) {
        CHECKED(MPI_Win_fence(MPI_MODE_NOPRECEDE, experiment->window));
    }
}

INLINE void complete_epoch(const struct experiment *experiment, enum calls calls)
{
    if (calls == NOTHING_FLUSH) {
        CHECKED(MPI_Win_flush(experiment->target, experiment->window));
    } else if (calls == LOCK_UNLOCK) {
        CHECKED(MPI_Win_unlock(experiment->target, experiment->window));
    } else if (calls == NOTHING_FLUSH_LOCAL) {
        CHECKED(MPI_Win_flush_local(experiment->target, experiment->window));
    } else if (calls == START_COMPLETE) {
        CHECKED(MPI_Win_complete(experiment->window));
    } else {
        CHECKED(MPI_Win_fence(MPI_MODE_NOSUCCEED, experiment->window));
    }
}

/* ---- The operations, each on a slot ---- */

#define LOCAL(buffer) (buffer) + slot * experiment->elements, experiment->elements, MPI_INT64_T
#define PLACE experiment->displacement + slot * experiment->slot_bytes
#define REMOTE experiment->target, PLACE, experiment->type_count, experiment->type

INLINE void issue_put(struct experiment *experiment, long long slot)
{
    CHECKED(MPI_Put(LOCAL(experiment->payload), REMOTE, experiment->window));
}

INLINE void issue_get(struct experiment *experiment, long long slot)
{
    CHECKED(MPI_Get(LOCAL(experiment->result), REMOTE, experiment->window));
}

INLINE void issue_accumulate(struct experiment *experiment, long long slot)
{
    CHECKED(MPI_Accumulate(LOCAL(experiment->payload), REMOTE, MPI_SUM, experiment->window));
}

INLINE void issue_get_accumulate(struct experiment *experiment, long long slot)
{
    CHECKED(MPI_Get_accumulate(LOCAL(experiment->payload), LOCAL(experiment->result), REMOTE,
                               MPI_SUM, experiment->window));
}

INLINE void issue_fetch_and_op(struct experiment *experiment, long long slot)
{
    CHECKED(MPI_Fetch_and_op(&experiment->payload[slot], &experiment->result[slot], MPI_INT64_T,
                             experiment->target, PLACE, MPI_SUM, experiment->window));
}

INLINE void issue_compare_and_swap(struct experiment *experiment, long long slot)
{
    CHECKED(MPI_Compare_and_swap(&experiment->payload[slot], &experiment->compared[slot],
                                 &experiment->result[slot], MPI_INT64_T, experiment->target, PLACE,
                                 experiment->window));
}

INLINE void issue_rput(struct experiment *experiment, long long slot)
{
    CHECKED(MPI_Rput(LOCAL(experiment->payload), REMOTE, experiment->window, &experiment->request));
}

INLINE void issue_rget(struct experiment *experiment, long long slot)
{
    CHECKED(MPI_Rget(LOCAL(experiment->result), REMOTE, experiment->window, &experiment->request));
}

INLINE void issue_raccumulate(struct experiment *experiment, long long slot)
{
    CHECKED(MPI_Raccumulate(LOCAL(experiment->payload), REMOTE, MPI_SUM, experiment->window,
                            &experiment->request));
}

INLINE void issue_rget_accumulate(struct experiment *experiment, long long slot)
{
    CHECKED(MPI_Rget_accumulate(LOCAL(experiment->payload), LOCAL(experiment->result), REMOTE,
                                MPI_SUM, experiment->window, &experiment->request));
}

/* ---- The timed loop ---- */

INLINE struct access timed_loop(struct experiment *experiment, long long count, bool apart,
                                enum calls calls, bool waits,
                                void (*issue)(struct experiment *, long long))
{
    struct access access = {.begin_s = clock_now_s()};
    for (long long slot = 0; slot < count; slot++) {
        begin_epoch(experiment, calls, apart);
        if (apart) {
            access.begun_s = clock_now_s();
        }
        issue(experiment, slot);
        if (apart) {
            access.issued_s = clock_now_s();
        }
        if (waits) {
            CHECKED(MPI_Wait(&experiment->request, MPI_STATUS_IGNORE));
        }
        if (apart) {
            access.waited_s = clock_now_s();
        }
        complete_epoch(experiment, calls);
    }
    access.completed_s = launch_slowed(experiment->launch, experiment->cell, access.begin_s);
    return access;
}

/* The loop once for each kind of calls, and apart or not: the compiler leaves nothing to decide
 * inside of it. */
#define LOOP(name, waits, issue)                                                                   \
    static struct access name(struct experiment *experiment, long long count, bool apart)          \
    {                                                                                              \
        switch (experiment->synchronisation->calls) {                                              \
        case LOCK_UNLOCK:                                                                          \
            return LOOP_OF(LOCK_UNLOCK, waits, issue);                                             \
        case NOTHING_FLUSH:                                                                        \
            return LOOP_OF(NOTHING_FLUSH, waits, issue);                                           \
        case NOTHING_FLUSH_LOCAL:                                                                  \
            return LOOP_OF(NOTHING_FLUSH_LOCAL, waits, issue);                                     \
        case FENCE_FENCE:                                                                          \
            return LOOP_OF(FENCE_FENCE, waits, issue);                                             \
        default:                                                                                   \
            return LOOP_OF(START_COMPLETE, waits, issue);                                          \
        }                                                                                          \
    }
#define LOOP_OF(calls, waits, issue)                                                               \
    (apart ? timed_loop(experiment, count, true, calls, waits, issue)                              \
           : timed_loop(experiment, count, false, calls, waits, issue))

LOOP(put, false, issue_put)
LOOP(get, false, issue_get)
LOOP(accumulate, false, issue_accumulate)
LOOP(get_accumulate, false, issue_get_accumulate)
LOOP(fetch_and_op, false, issue_fetch_and_op)
LOOP(compare_and_swap, false, issue_compare_and_swap)
LOOP(rput, true, issue_rput)
LOOP(rget, true, issue_rget)
LOOP(raccumulate, true, issue_raccumulate)
LOOP(rget_accumulate, true, issue_rget_accumulate)

const struct operation operations[] = {
    {.name = "put", .effect = REPLACES, .access = put},
    {.name = "get", .effect = KEEPS, .fetches = true, .access = get},
    {.name = "accumulate", .effect = ADDS, .access = accumulate},
    {.name = "get_accumulate", .effect = ADDS, .fetches = true, .access = get_accumulate},
    {.name = "fetch_and_op",
     .effect = ADDS,
     .fetches = true,
     .one_element = true,
     .access = fetch_and_op},
    {.name = "compare_and_swap",
     .effect = REPLACES,
     .fetches = true,
     .one_element = true,
     .access = compare_and_swap},
    {.name = "failing_compare_and_swap",
     .effect = KEEPS,
     .fetches = true,
     .one_element = true,
     .fails = true,
     .access = compare_and_swap},
    {.name = "rput", .effect = REPLACES, .request_based = true, .access = rput},
    {.name = "rget", .effect = KEEPS, .fetches = true, .request_based = true, .access = rget},
    {.name = "raccumulate", .effect = ADDS, .request_based = true, .access = raccumulate},
    {.name = "rget_accumulate",
     .effect = ADDS,
     .fetches = true,
     .request_based = true,
     .access = rget_accumulate},
};

bool is_read_back(const struct operation *operation)
{
    return operation->effect == REPLACES && !operation->fetches;
}

void read_back(struct experiment *experiment)
{
    const enum calls calls = experiment->synchronisation->calls;
    const int elements = (int)region_elements(experiment);
    begin_epoch(experiment, calls, false);
    CHECKED(MPI_Get(experiment->copy, elements, MPI_INT64_T, experiment->target,
                    experiment->displacement, elements, MPI_INT64_T, experiment->window));
    complete_epoch(experiment, calls);
    experiment->synchronisation->finish(experiment);
}
