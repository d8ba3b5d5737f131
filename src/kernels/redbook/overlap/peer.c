/* What rank 0 does while an origin transfers and computes: it is in MPI, computes, or sleeps. */
#include "harness/clock.h"
#include "redbook/overlap/overlap.h"

static void compute(struct overlap *own)
{
    compute_once(own);
}

/* Sleep as long as a compute takes; the core is free meanwhile. */
static void fall_asleep(struct overlap *own)
{
    clock_sleep(own->length_s);
}

const struct peer peers[PEERS] = {
    {.name = "in_mpi"},
    {.name = "computes", .stay_outside = compute},
    {.name = "sleeps", .sleeps = true, .stay_outside = fall_asleep},
};

bool peer_has_thread(const struct overlap *own)
{
    return own->way->by_thread && own->way->sends && own->peer->stay_outside != NULL;
}

static MPI_Request *receives_of(const struct overlap *own, long long slot)
{
    return own->receives + slot * (own->slots.launch->ranks - 1);
}

/* A message goes to the place of the put. */
void peer_prepare(struct overlap *own, long long burst)
{
    const struct slots *slots = &own->slots;
    const int elements = slots->elements;
    for (long long slot = 0; slot < burst && own->way->sends; slot++) {
        for (int origin = 1; origin < own->slots.launch->ranks; origin++) {
            int64_t *region = (int64_t *)(void *)region_memory(slots, origin - 1);
            CHECKED(MPI_Irecv(region + slot * elements, elements, MPI_INT64_T, origin, 0,
                              world_communicator, &receives_of(own, slot)[origin - 1]));
        }
    }
}

static void receive(struct overlap *own, long long slot)
{
    for (int origin = 1; origin < own->slots.launch->ranks; origin++) {
        CHECKED(MPI_Wait(&receives_of(own, slot)[origin - 1], MPI_STATUS_IGNORE));
        CHECKED(MPI_Send(NULL, 0, MPI_BYTE, origin, REPLY_TAG, world_communicator));
    }
}

static void stay_outside_or_receive(void *state, int number)
{
    struct overlap *own = state;
    if (number == 0) {
        own->peer->stay_outside(own);
    } else {
        receive(own, own->slot);
    }
}

void peer_take_part(struct overlap *own, long long burst, bool is_both)
{
    const bool is_outside = is_both && own->peer->stay_outside != NULL;
    own->team.task = stay_outside_or_receive;
    for (long long slot = 0; slot < burst; slot++) {
        own->slot = slot;
        if (is_outside && peer_has_thread(own)) {
            team_run(&own->team);
            continue;
        }
        if (is_outside) {
            own->peer->stay_outside(own);
        }
        if (own->way->sends) {
            receive(own, slot);
        }
    }
}
