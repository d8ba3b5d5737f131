/* A round of a cell: fill, access in an epoch, and compare after each completion that allows it. */
#include "data/conformance/trip.h"

#include <stdlib.h>
#include <string.h>

#include "data/conformance/call.h"
#include "data/conformance/places.h"
#include "harness/memory.h"
#include "harness/world.h"
#include "mpi/checked.h"
#include "mpi/world.h"

struct trip trip_open(struct plan *plan)
{
    struct trip trip = {.plan = plan,
                        .at_target.name = "window",
                        .at_origin.name = "origin",
                        .at_result.name = "result"};
    for (int i = 0; i < plan->windows; i++) {
        trip.windows[i] =
            window_open(plan->launch, plan->flavor, plan->has_memory ? window_bytes(plan) : 0);
    }
    trip.origin = allocate_pages((size_t)buffer_bytes(plan));
    trip.result = allocate_pages((size_t)buffer_bytes(plan));
    trip.compare = allocate_pages((size_t)buffer_bytes(plan));
    return trip;
}

void trip_close(struct trip *trip)
{
    const struct plan *plan = trip->plan;
    for (int i = 0; i < plan->windows; i++) {
        window_close(&trip->windows[plan->frees_backwards ? plan->windows - 1 - i : i]);
    }
    free(trip->origin);
    free(trip->result);
    free(trip->compare);
}

/* ---- The operations ---- */

/* Make a datatype of all items of a slot at their addresses, for MPI_BOTTOM. */
static MPI_Datatype absolute(const struct placed *placed, const void *begin, MPI_Datatype item)
{
    const int count = (int)placed->count;
    MPI_Datatype type;
    MPI_Aint address;
    CHECKED(MPI_Get_address(begin, &address));
    CHECKED(MPI_Type_create_hindexed(1, &count, &address, item, &type));
    CHECKED(MPI_Type_commit(&type));
    return type;
}

static void make_absolute(const struct placed *placed, struct arguments *a)
{
    a->origin_type = absolute(placed, a->origin, a->origin_type);
    a->result_type = absolute(placed, a->result, a->result_type);
    a->origin_count = a->result_count = 1;
    a->origin = a->result = MPI_BOTTOM;
}

static void make_one(const struct trip *trip, const struct window *window, struct arguments a,
                     long long number)
{
    const struct plan *plan = trip->plan;
    const struct placed *here = &plan->origin;
    const MPI_Aint begin = window_lead(plan) + number * here->slot + here->shift;
    a.origin = trip->origin + begin;
    a.result = trip->result + begin;
    a.compare = trip->compare + begin;
    a.displacement = window->begins[plan->target_rank] + window_lead(plan) + plan->target.shift +
                     (plan->overlap == APART ? number : 0) * plan->target.slot;
    if (here->is_absolute) {
        make_absolute(here, &a);
    }
    plan->call->make(&a);
    if (here->is_absolute) {
        CHECKED(MPI_Type_free(&a.origin_type));
        CHECKED(MPI_Type_free(&a.result_type));
    }
}

/* Begin all operations. Datatypes may be freed as soon as the last call has returned. */
static void make_all(const struct trip *trip, const struct window *window, MPI_Request *requests,
                     MPI_Datatype *types)
{
    const struct plan *plan = trip->plan;
    const int count = (int)plan->origin.count;
    struct arguments a = {.origin_count = count,
                          .result_count = count,
                          .origin_type = types[0],
                          .result_type = types[0],
                          .target = plan->target_rank,
                          .target_count = (int)plan->target.count,
                          .target_type = types[1],
                          .element = plan->element->handle,
                          .window = window->handle};
    if (plan->reduction != NULL) {
        a.reduction = plan->reduction->handle;
    }
    for (int number = 0; number < plan->outstanding; number++) {
        a.request = &requests[number];
        make_one(trip, window, a, number);
    }
    for (int side = 0; plan->frees_types && side < 2; side++) {
        CHECKED(MPI_Type_free(&types[side]));
    }
}

/* ---- What each completion promises ---- */

/* After local completion: the fetched data are here, and the sent data may be overwritten. */
static void look_at_origin(struct trip *trip, const struct model *model, int window)
{
    const struct plan *plan = trip->plan;
    const uint64_t seed = seed_of(plan, window);
    if (plan->call->fetches) {
        const struct memory result = buffer_of(plan, "result", trip->result, seed + 1);
        memory_compare(&result, plan->element, model->fetched, &trip->at_result);
    }
    if (plan->call->sends) {
        const struct memory origin = buffer_of(plan, "origin", trip->origin, seed + 2);
        memory_compare(&origin, plan->element, model->sent, &trip->at_origin);
        for (MPI_Aint i = 0; i < origin.size; i++) {
            origin.bytes[i] = (unsigned char)~origin.bytes[i];
        }
    }
}

/* THE TIMED EPOCH of an origin, and its comparison before anything completes at the target. */
static void access_target(struct trip *trip, const struct epoch *epoch, const struct model *model,
                          int index)
{
    struct plan *plan = trip->plan;
    const struct window *window = &trip->windows[index];
    const struct synchronisation *way = plan->synchronisation;
    MPI_Datatype types[] = {datatype_of(plan->origin.shape, plan->element),
                            datatype_of(plan->target.shape, plan->element)};
    MPI_Request *requests = allocate((size_t)plan->outstanding, sizeof requests[0]);
    const double begin_s = clock_now_s();
    begin_epoch(epoch, way->calls, true);
    make_all(trip, window, requests, types);
    if (plan->call->has_request) {
        for (int number = 0; number < plan->outstanding; number++) {
            CHECKED(MPI_Wait(&requests[number], MPI_STATUS_IGNORE));
        }
        look_at_origin(trip, model, index);
    }
    complete_epoch(epoch, way->calls);
    trip->passed_s = clock_now_s() - begin_s;
    if (!plan->call->has_request) {
        look_at_origin(trip, model, index);
    }
    way->finish(epoch);
    for (int side = 0; side < 2; side++) {
        if (types[side] != MPI_DATATYPE_NULL) {
            CHECKED(MPI_Type_free(&types[side]));
        }
    }
    free(requests);
}

/* After completion at the target: it compares its window, while the origins' lock_all lasts. */
static void look_at_window(struct trip *trip, const struct model *model, int index)
{
    const struct plan *plan = trip->plan;
    struct window *window = &trip->windows[index];
    struct memory part = part_of(plan, index, NULL);
    part.bytes = allocate((size_t)part.size + 1, 1);
    window_begin_own(window, MPI_LOCK_SHARED);
    memcpy(part.bytes, window->memory, (size_t)part.size);
    window_end_own(window);
    memory_compare(&part, plan->element, model->state, &trip->at_target);
    free(part.bytes);
}

/* ---- A round ---- */

static void fill_all(struct trip *trip, const struct model *model, int index)
{
    const struct plan *plan = trip->plan;
    struct window *window = &trip->windows[index];
    const uint64_t seed = seed_of(plan, index);
    const struct memory part = part_of(plan, index, window->memory);
    const struct memory result = buffer_of(plan, "result", trip->result, seed + 1);
    const struct memory origin = buffer_of(plan, "origin", trip->origin, seed + 2);
    const struct memory compare = buffer_of(plan, "compare", trip->compare, seed + 3);
    if (part.size > 0) {
        window_begin_own(window, MPI_LOCK_SHARED);
        memory_fill(&part, plan->element, model->before);
        window_end_own(window);
    }
    memory_fill(&result, plan->element, NULL);
    memory_fill(&origin, plan->element, model->sent);
    memory_fill(&compare, plan->element, model->compare);
}

static MPI_Group group_of(const struct plan *plan, bool of_target)
{
    MPI_Group world, group;
    int *members = allocate((size_t)plan->launch->ranks, sizeof members[0]);
    int count = 0;
    for (int rank = 0; rank < plan->launch->ranks; rank++) {
        if (of_target ? rank == plan->target_rank : is_origin(plan, rank)) {
            members[count++] = rank;
        }
    }
    CHECKED(MPI_Comm_group(world_communicator, &world));
    CHECKED(MPI_Group_incl(world, count, members, &group));
    CHECKED(MPI_Group_free(&world));
    free(members);
    return group;
}

static void communicate(struct trip *trip, const struct model *model, int index)
{
    struct plan *plan = trip->plan;
    const struct synchronisation *way = plan->synchronisation;
    const int rank = plan->launch->rank;
    const bool accesses = is_origin(plan, rank);
    const bool is_target = rank == plan->target_rank;
    MPI_Group origins = group_of(plan, false);
    MPI_Group targets = group_of(plan, true);
    struct epoch exposure = {way, trip->windows[index].handle, plan->target_rank, origins};
    struct epoch access = {way, trip->windows[index].handle, plan->target_rank, targets};
    /* each rank calls a fence once, an origin in its access epoch */
    const bool exposes =
        way->kind == COLLECTIVE_ACTIVE ? !accesses : way->kind == GENERAL_ACTIVE && is_target;
    if (accesses) {
        way->enter(&access);
    }
    if (exposes) {
        way->target_open(&exposure);
    }
    if (accesses) {
        way->open(&access);
        access_target(trip, &access, model, index);
    }
    if (exposes) {
        way->target_close(&exposure);
    }
    CHECKED(MPI_Group_free(&origins));
    CHECKED(MPI_Group_free(&targets));
}

void trip_run(struct trip *trip, int index)
{
    struct plan *plan = trip->plan;
    const struct synchronisation *way = plan->synchronisation;
    const bool accesses = is_origin(plan, plan->launch->rank);
    const bool holds = accesses && way->kind == PASSIVE && way->calls != LOCK_UNLOCK;
    struct window *window = &trip->windows[index];
    struct model model = model_make(plan, index);
    watchdog_phase = "fill";
    fill_all(trip, &model, index);
    world_barrier();
    watchdog_phase = "access";
    communicate(trip, &model, index);
    window->is_locked = holds;
    world_barrier();
    watchdog_phase = "verify";
    look_at_window(trip, &model, index);
    world_barrier();
    if (holds) {
        const struct epoch access = {way, window->handle, plan->target_rank, MPI_GROUP_NULL};
        way->leave(&access);
    }
    window->is_locked = false;
    model_free(&model);
}

void trip_look_again(struct trip *trip, int index)
{
    struct model model = model_make(trip->plan, index);
    look_at_window(trip, &model, index);
    model_free(&model);
}
