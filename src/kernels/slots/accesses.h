/* Accesses to a slot at rank 0, inlined into timed loops; and rows of a kernel's axes. */
#ifndef ONESIDED_SLOTS_ACCESSES_H
#define ONESIDED_SLOTS_ACCESSES_H

#include "mpi/checked.h"
#include "slots/slots.h"

/* `with_`: all idioms but loads and stores, which need a shared window. */
#define FLAVOR_OF_IDIOM_AXIS(with_) FLAVOR_ONLY_WITH_AXIS("allocate", "idiom=" with_)
#define WRITE_BYTES_AXIS(fallback_)                                                                \
    INTEGER_AXIS("size_bytes", "size of a write, a multiple of 8", (fallback_), 8, 1 << 24)

/* Collective: does the window have the model MPI_WIN_UNIFIED? If not, the record says so. */
bool is_unified(const struct slots *slots);

/* A call's arguments for a slot, here and at rank 0. */
#define SLOT_HERE(part) slots->transfer.part + slot * slots->elements, slots->elements, MPI_INT64_T
#define SLOT_THERE                                                                                 \
    TARGET, slots->transfer.displacement + slot * slots->transfer.slot_bytes, slots->elements,     \
        MPI_INT64_T

INLINE void put_slot(const struct slots *slots, long long slot)
{
    CHECKED(MPI_Put(SLOT_HERE(payload), SLOT_THERE, slots->transfer.epoch.window));
}

INLINE void rput_slot(const struct slots *slots, long long slot)
{
    MPI_Request request;
    CHECKED(MPI_Rput(SLOT_HERE(payload), SLOT_THERE, slots->transfer.epoch.window, &request));
    CHECKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

INLINE void get_slot(const struct slots *slots, long long slot)
{
    CHECKED(MPI_Get(SLOT_HERE(result), SLOT_THERE, slots->transfer.epoch.window));
}

INLINE void rget_slot(const struct slots *slots, long long slot)
{
    MPI_Request request;
    CHECKED(MPI_Rget(SLOT_HERE(result), SLOT_THERE, slots->transfer.epoch.window, &request));
    CHECKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* A put and a get that are atomic in each element, and that MPI orders. */
INLINE void replace_slot(const struct slots *slots, long long slot)
{
    CHECKED(
        MPI_Accumulate(SLOT_HERE(payload), SLOT_THERE, MPI_REPLACE, slots->transfer.epoch.window));
}

INLINE void fetch_slot(const struct slots *slots, long long slot)
{
    CHECKED(MPI_Get_accumulate(NULL, 0, MPI_INT64_T, SLOT_HERE(result), SLOT_THERE, MPI_NO_OP,
                               slots->transfer.epoch.window));
}

INLINE void store_slot(const struct slots *slots, long long slot)
{
    const int64_t *payload = slots->transfer.payload + slot * slots->elements;
    volatile int64_t *place = slots->shared + slot * slots->elements;
    for (int i = 0; i < slots->elements; i++) {
        place[i] = payload[i];
    }
}

INLINE void load_slot(const struct slots *slots, long long slot)
{
    const volatile int64_t *place = slots->shared + slot * slots->elements;
    int64_t *result = slots->transfer.result + slot * slots->elements;
    for (int i = 0; i < slots->elements; i++) {
        result[i] = place[i];
    }
}

#endif
