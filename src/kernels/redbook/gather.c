/* Gather: how long does it take to get N scattered elements of another rank, one by one, by a
 * datatype, or packed by that rank?
 *
 * Source: Marcelo Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM
 * SG24-5611, 1999), section 3.5.3.2 with Figure 24: a get for each element, and one wait (G1); an
 * active message with the addresses, whose handler packs the elements and puts them back (G2), with
 * 17 times the asymptotic bandwidth. In MPI also: one MPI_Get whose target datatype says where the
 * elements are, made once or for each gather; MPI_Rget and one MPI_Waitall. Rank 0 packs in its own
 * calls, or a second thread of rank 0 packs, or a rank that shares rank 0's memory. Timed, in
 * seconds: a gather until all elements are at the origin, as the mean of a burst; a single gather
 * while rank 0 computes. Verified: every element, and the number of answered requests. */
#include <stdlib.h>

#include "harness/memory.h"
#include "rma/computing.h"
#include "slots/served.h"

#define ELEMENTS_MAX 65536

struct way {
    const char *name;
    enum serves serves;
    void (*loop)(struct slots *slots, long long burst);
};

struct gather {
    struct served served;  /* first */
    MPI_Aint *places;      /* of a slot's elements, in bytes */
    MPI_Request *requests; /* one for each element, as the statuses */
    MPI_Status *statuses;  /* older headers and GCC disagree on MPI_STATUSES_IGNORE */
    int64_t *packed;       /* at a server */
};

/* ---- THE TIMED LOOPS of an origin ---- */

#define SLOT_BEGIN(slot) (slots->transfer.displacement + (slot) * slots->transfer.slot_bytes)
#define RESULT(slot) (slots->transfer.result + (slot) * slots->elements)

static void go_gets(struct slots *slots, long long burst)
{
    const struct gather *own = (struct gather *)slots;
    for (long long slot = 0; slot < burst; slot++) {
        for (int i = 0; i < slots->elements; i++) {
            CHECKED(MPI_Get(RESULT(slot) + i, 1, MPI_INT64_T, TARGET,
                            SLOT_BEGIN(slot) + own->places[i], 1, MPI_INT64_T,
                            slots->transfer.epoch.window));
        }
        CHECKED(MPI_Win_flush(TARGET, slots->transfer.epoch.window));
    }
}

static void go_rgets(struct slots *slots, long long burst)
{
    const struct gather *own = (struct gather *)slots;
    for (long long slot = 0; slot < burst; slot++) {
        for (int i = 0; i < slots->elements; i++) {
            CHECKED(MPI_Rget(RESULT(slot) + i, 1, MPI_INT64_T, TARGET,
                             SLOT_BEGIN(slot) + own->places[i], 1, MPI_INT64_T,
                             slots->transfer.epoch.window, &own->requests[i]));
        }
        CHECKED(MPI_Waitall(slots->elements, own->requests, own->statuses));
    }
}

INLINE void get_typed(const struct slots *slots, long long slot, const struct layout_type *type)
{
    CHECKED(MPI_Get(RESULT(slot), slots->elements, MPI_INT64_T, TARGET, SLOT_BEGIN(slot),
                    type->count, type->type, slots->transfer.epoch.window));
    CHECKED(MPI_Win_flush(TARGET, slots->transfer.epoch.window));
}

static void go_indexed(struct slots *slots, long long burst)
{
    for (long long slot = 0; slot < burst; slot++) {
        get_typed(slots, slot, &slots->transfer.type);
    }
}

/* A new datatype for each gather, as if the places changed from gather to gather. */
static void go_new_type(struct slots *slots, long long burst)
{
    const struct gather *own = (struct gather *)slots;
    struct layout_type type = {.count = 1};
    for (long long slot = 0; slot < burst; slot++) {
        CHECKED(MPI_Type_create_hindexed_block(slots->elements, 1, own->places, MPI_INT64_T,
                                               &type.type));
        CHECKED(MPI_Type_commit(&type.type));
        get_typed(slots, slot, &type);
        CHECKED(MPI_Type_free(&type.type));
    }
}

static void go_ask(struct slots *slots, long long burst)
{
    struct gather *own = (struct gather *)slots;
    const size_t elements = (size_t)slots->elements;
    for (long long slot = 0; slot < burst; slot++) {
        const MPI_Aint begin = SLOT_BEGIN(slot);
        server_ask(&own->served.server, 0, &begin, sizeof begin, own->places,
                   elements * sizeof own->places[0]);
        server_await(&own->served.server, RESULT(slot), elements * sizeof(int64_t));
    }
}

/* The server packs the elements of a request. */
static void pack(struct server *server, const struct request *request)
{
    const struct gather *own = server->state;
    const MPI_Aint *begin = request->header, *places = request->payload;
    const size_t elements = request->payload_bytes / sizeof places[0];
    const char *memory = own->served.memory + *begin;
    CHECKED(MPI_Win_sync(own->served.slots.transfer.epoch.window));
    for (size_t i = 0; i < elements; i++) {
        own->packed[i] = *(const int64_t *)(memory + places[i]);
    }
    server_answer(server, request, own->packed, elements * sizeof own->packed[0]);
}

#define ONE_SIDED "gets,rgets,get_indexed,get_new_type"
static const struct way ways[] = {
    {"gets", NOBODY, go_gets},
    {"rgets", NOBODY, go_rgets},
    {"get_indexed", NOBODY, go_indexed},
    {"get_new_type", NOBODY, go_new_type},
    {"target_serves", TARGET_ITSELF, go_ask},
    {"server_thread", A_THREAD, go_ask},
    {"server_process", A_RANK, go_ask},
};

static const struct axis axes[] = {
    CHOICE_AXIS("way", "how the elements come",
                ONE_SIDED ",target_serves,server_thread,server_process", ways),
    FLAVOR_ONLY_WITH_AXIS("allocate", "way=" ONE_SIDED),
    INTEGER_AXIS("elements", "of a gather, eight bytes each", "64", 1, ELEMENTS_MAX),
    IDLE_OR_COMPUTES_AXIS,
};

static const struct option options[] = {TRIAL_OPTIONS("50", "20", "0.05"), MEETING_OPTIONS};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct way *way = cell_choice(cell, "way");
    const struct target_state *state = cell_choice(cell, "target_state");
    const size_t elements = (size_t)cell_number(cell, "elements");
    struct gather own = {.served = {.serves = way->serves, .answer = pack}};
    struct slots *slots = &own.served.slots;
    if (!served_is_supported(launch, way->serves, state->computes, record)) {
        return;
    }
    *slots = slots_of_elements(launch, cell, record, (double)elements,
                               options_integer(&launch->options, "burst"));
    slots->loop = way->loop;
    slots->makes = operation_named("get");
    slots->layout = &layout_scattered;
    slots->holds_lock_all = true;
    own.places = allocate(elements, sizeof own.places[0]);
    own.requests = allocate(elements, sizeof own.requests[0]);
    own.statuses = allocate(elements, sizeof own.statuses[0]);
    own.packed = allocate(elements, sizeof own.packed[0]);
    for (size_t i = 0; i < elements; i++) {
        own.places[i] = (MPI_Aint)(layout_scattered.place(i, elements) * sizeof(int64_t));
    }
    served_run(&own.served, state->computes);
    free(own.packed);
    free(own.statuses);
    free(own.requests);
    free(own.places);
}

KERNEL("gather", "time in which scattered elements of another rank come here", .run_cell = run_cell)
