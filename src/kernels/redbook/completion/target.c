/* What the target does for a waiting origin: it echoes notices, or receives messages. */
#include "redbook/completion/target.h"

struct notice notice_of(const struct completion *own, int at, int origin)
{
    const struct window *window = own->slots.window;
    const MPI_Aint behind = own->slots.origins * (MPI_Aint)region_bytes(&own->slots);
    const MPI_Aint place = at == TARGET ? behind + (MPI_Aint)(origin - 1) * NOTICE_BYTES : 0;
    return (struct notice){
        .window = window->handle, .rank = at, .displacement = window->begins[at] + place};
}

void clear_notices(struct completion *own)
{
    struct slots *slots = &own->slots;
    const int ranks = slots->launch->ranks, rank = slots->launch->rank;
    window_begin_own(slots->window, MPI_LOCK_SHARED);
    for (int origin = 1; origin < ranks; origin++) {
        if (rank == TARGET || rank == origin) {
            const struct notice word = notice_of(own, rank, origin);
            char *begin = (char *)slots->window->memory - slots->window->begins[rank];
            *(uint64_t *)(begin + word.displacement) = 0;
        }
    }
    window_end_own(slots->window);
    CHECKED(MPI_Barrier(world_communicator));
}

void echo_notices(const struct completion *own, long long burst)
{
    for (long long slot = 0; slot < burst; slot++) {
        for (int origin = 1; origin < own->slots.launch->ranks; origin++) {
            const struct notice here = notice_of(own, TARGET, origin);
            const struct notice there = notice_of(own, origin, origin);
            notice_await(&here, own->turn + (uint64_t)slot + 1);
            notice_give(&there, own->turn + (uint64_t)slot + 1);
        }
    }
}

INLINE void receive_slots(const struct completion *own, long long burst, bool replies)
{
    const struct slots *slots = &own->slots;
    const int elements = slots->elements;
    window_begin_own(slots->window, MPI_LOCK_SHARED);
    for (long long slot = 0; slot < burst; slot++) {
        for (int origin = 1; origin < slots->launch->ranks; origin++) {
            int64_t *region = (int64_t *)(void *)region_memory(slots, origin - 1);
            CHECKED(MPI_Recv(region + slot * elements, elements, MPI_INT64_T, origin, 0,
                             world_communicator, MPI_STATUS_IGNORE));
            if (replies) {
                CHECKED(MPI_Send(NULL, 0, MPI_BYTE, origin, 1, world_communicator));
            }
        }
    }
    window_end_own(slots->window);
}

void receive_all(const struct completion *own, long long burst)
{
    receive_slots(own, burst, false);
}

void receive_and_reply(const struct completion *own, long long burst)
{
    receive_slots(own, burst, true);
}
