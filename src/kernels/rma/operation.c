/* Operations: what an origin does to its target's window. Each has its own timed loop, in which no
 * call goes through a pointer. */
#include "rma/operation.h"

#include <string.h>

#include "harness/clock.h"
#include "mpi/checked.h"

/* ---- The operations, each on a slot ---- */

#define LOCAL(buffer) (buffer) + slot * transfer->elements, transfer->elements, MPI_INT64_T
#define PLACE transfer->displacement + slot * transfer->slot_bytes
#define REMOTE transfer->epoch.target, PLACE, transfer->type.count, transfer->type.type

INLINE void issue_put(struct transfer *transfer, long long slot)
{
    CHECKED(MPI_Put(LOCAL(transfer->payload), REMOTE, transfer->epoch.window));
}

INLINE void issue_get(struct transfer *transfer, long long slot)
{
    CHECKED(MPI_Get(LOCAL(transfer->result), REMOTE, transfer->epoch.window));
}

INLINE void issue_accumulate(struct transfer *transfer, long long slot)
{
    CHECKED(MPI_Accumulate(LOCAL(transfer->payload), REMOTE, MPI_SUM, transfer->epoch.window));
}

INLINE void issue_get_accumulate(struct transfer *transfer, long long slot)
{
    CHECKED(MPI_Get_accumulate(LOCAL(transfer->payload), LOCAL(transfer->result), REMOTE, MPI_SUM,
                               transfer->epoch.window));
}

INLINE void issue_fetch_and_op(struct transfer *transfer, long long slot)
{
    CHECKED(MPI_Fetch_and_op(&transfer->payload[slot], &transfer->result[slot], MPI_INT64_T,
                             transfer->epoch.target, PLACE, MPI_SUM, transfer->epoch.window));
}

INLINE void issue_compare_and_swap(struct transfer *transfer, long long slot)
{
    CHECKED(MPI_Compare_and_swap(&transfer->payload[slot], &transfer->compared[slot],
                                 &transfer->result[slot], MPI_INT64_T, transfer->epoch.target,
                                 PLACE, transfer->epoch.window));
}

INLINE void issue_rput(struct transfer *transfer, long long slot)
{
    CHECKED(MPI_Rput(LOCAL(transfer->payload), REMOTE, transfer->epoch.window, &transfer->request));
}

INLINE void issue_rget(struct transfer *transfer, long long slot)
{
    CHECKED(MPI_Rget(LOCAL(transfer->result), REMOTE, transfer->epoch.window, &transfer->request));
}

INLINE void issue_raccumulate(struct transfer *transfer, long long slot)
{
    CHECKED(MPI_Raccumulate(LOCAL(transfer->payload), REMOTE, MPI_SUM, transfer->epoch.window,
                            &transfer->request));
}

INLINE void issue_rget_accumulate(struct transfer *transfer, long long slot)
{
    CHECKED(MPI_Rget_accumulate(LOCAL(transfer->payload), LOCAL(transfer->result), REMOTE, MPI_SUM,
                                transfer->epoch.window, &transfer->request));
}

/* ---- The timed loop ---- */

INLINE struct access timed_loop(struct transfer *transfer, long long count, bool apart,
                                enum calls calls, bool waits,
                                void (*issue)(struct transfer *, long long))
{
    struct access access = {.begin_s = clock_now_s()};
    for (long long slot = 0; slot < count; slot++) {
        begin_epoch(&transfer->epoch, calls, apart);
        if (apart) {
            access.begun_s = clock_now_s();
        }
        issue(transfer, slot);
        if (apart) {
            access.issued_s = clock_now_s();
        }
        if (waits) {
            CHECKED(MPI_Wait(&transfer->request, MPI_STATUS_IGNORE));
        }
        if (apart) {
            access.waited_s = clock_now_s();
        }
        complete_epoch(&transfer->epoch, calls);
    }
    access.completed_s = clock_now_s();
    return access;
}

/* A loop for each kind of calls, with and without `apart`, so that the loop itself has no branches
 * on them. */
#define LOOP(name, waits, issue)                                                                   \
    static struct access name(struct transfer *transfer, long long count, bool apart)              \
    {                                                                                              \
        switch (transfer->epoch.synchronisation->calls) {                                          \
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
    (apart ? timed_loop(transfer, count, true, calls, waits, issue)                                \
           : timed_loop(transfer, count, false, calls, waits, issue))

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

const struct operation *operation_named(const char *name)
{
    const struct operation *row = operations;
    while (strcmp(row->name, name) != 0) {
        row++;
    }
    return row;
}

bool is_read_back(const struct operation *operation)
{
    return operation->effect == REPLACES && !operation->fetches;
}

void transfer_read_back(const struct transfer *transfer, int64_t *copy, int elements)
{
    const enum calls calls = transfer->epoch.synchronisation->calls;
    begin_epoch(&transfer->epoch, calls, false);
    CHECKED(MPI_Get(copy, elements, MPI_INT64_T, transfer->epoch.target, transfer->displacement,
                    elements, MPI_INT64_T, transfer->epoch.window));
    complete_epoch(&transfer->epoch, calls);
    transfer->epoch.synchronisation->finish(&transfer->epoch);
}
