/* Gather: what do N scattered elements of another rank take, one by one, by a type, or packed
 * there?
 *
 * Source: Marcelo Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM
 * SG24-5611, 1999), section 3.5.3.2 with Figure 24: a get for each element, and one wait (G1); an
 * active message with the addresses, whose handler packs the elements and puts them back (G2), with
 * 17 times the asymptotic bandwidth. In MPI also: one MPI_Get with a type of the target's that says
 * where the elements are, made before or for each gather; MPI_Rget and one MPI_Waitall. Rank 0
 * packs in its own calls, or a second thread of it does, or a rank that shares its memory. Timed,
 * in seconds: a gather until all elements are here, the mean of a burst; a single one that meets
 * rank 0 while it computes. Verified: every element, and how many requests were answered. */
#include <stdlib.h>

#include "harness/memory.h"
#include "rma/computing.h"
#include "rma/served.h"

#define ELEMENTS_MAX 65536

struct way {
    const char *name;
    enum serves serves;
    void (*go)(void *state, long long burst);
};

struct gather {
    struct served served;  /* first */
    MPI_Aint *places;      /* of the elements of a slot, in bytes */
    MPI_Request *requests; /* as many, as the statuses */
    MPI_Status *statuses;  /* older headers and GCC disagree on MPI_STATUSES_IGNORE */
    struct layout_type type;
    int64_t *packed; /* at a server */
};

/* ---- THE TIMED LOOPS of an origin ---- */

#define WRITES(state) (&((struct gather *)(state))->served.writes)
#define SLOT_BEGIN(slot) (writes->transfer.displacement + (slot) * writes->transfer.slot_bytes)
#define RESULT(slot) (writes->transfer.result + (slot) * writes->elements)

static void go_gets(void *state, long long burst)
{
    const struct gather *own = state;
    const struct writes *writes = WRITES(state);
    for (long long slot = 0; slot < burst; slot++) {
        for (int i = 0; i < writes->elements; i++) {
            CHECKED(MPI_Get(RESULT(slot) + i, 1, MPI_INT64_T, TARGET,
                            SLOT_BEGIN(slot) + own->places[i], 1, MPI_INT64_T,
                            writes->window.handle));
        }
        CHECKED(MPI_Win_flush(TARGET, writes->window.handle));
    }
}

static void go_rgets(void *state, long long burst)
{
    const struct gather *own = state;
    const struct writes *writes = WRITES(state);
    for (long long slot = 0; slot < burst; slot++) {
        for (int i = 0; i < writes->elements; i++) {
            CHECKED(MPI_Rget(RESULT(slot) + i, 1, MPI_INT64_T, TARGET,
                             SLOT_BEGIN(slot) + own->places[i], 1, MPI_INT64_T,
                             writes->window.handle, &own->requests[i]));
        }
        CHECKED(MPI_Waitall(writes->elements, own->requests, own->statuses));
    }
}

INLINE void get_typed(const struct writes *writes, long long slot, const struct layout_type *type)
{
    CHECKED(MPI_Get(RESULT(slot), writes->elements, MPI_INT64_T, TARGET, SLOT_BEGIN(slot),
                    type->count, type->type, writes->window.handle));
    CHECKED(MPI_Win_flush(TARGET, writes->window.handle));
}

static void go_indexed(void *state, long long burst)
{
    const struct gather *own = state;
    for (long long slot = 0; slot < burst; slot++) {
        get_typed(WRITES(state), slot, &own->type);
    }
}

/* A new type for each gather, as for elements that change from one to the next. */
static void go_new_type(void *state, long long burst)
{
    const struct gather *own = state;
    struct layout_type type = {.count = 1};
    for (long long slot = 0; slot < burst; slot++) {
        CHECKED(MPI_Type_create_hindexed_block(own->served.writes.elements, 1, own->places,
                                               MPI_INT64_T, &type.type));
        CHECKED(MPI_Type_commit(&type.type));
        get_typed(WRITES(state), slot, &type);
        CHECKED(MPI_Type_free(&type.type));
    }
}

static void go_ask(void *state, long long burst)
{
    struct gather *own = state;
    const struct writes *writes = WRITES(state);
    const size_t elements = (size_t)writes->elements;
    for (long long slot = 0; slot < burst; slot++) {
        const MPI_Aint begin = SLOT_BEGIN(slot);
        server_ask(&own->served.server, 0, &begin, sizeof begin, own->places,
                   elements * sizeof own->places[0]);
        server_await(&own->served.server, RESULT(slot), elements * sizeof(int64_t));
    }
}

/* What a server does with a request. */
static void pack(struct server *server, const struct request *request)
{
    const struct gather *own = server->state;
    const MPI_Aint *begin = request->header, *places = request->payload;
    const size_t elements = request->payload_bytes / sizeof places[0];
    const char *memory = own->served.memory + *begin;
    CHECKED(MPI_Win_sync(own->served.writes.window.handle));
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
    {.name = "way",
     .help = "how the elements come",
     .kind = AXIS_CHOICE,
     .fallback = ONE_SIDED ",target_serves,server_thread,server_process",
     .choices = TABLE(ways)},
    FLAVOR_ONLY_WITH_AXIS("allocate", "way=" ONE_SIDED),
    {.name = "elements",
     .help = "of a gather, eight bytes each",
     .kind = AXIS_INTEGER,
     .fallback = "64",
     .minimum = 1,
     .maximum = ELEMENTS_MAX},
    IDLE_OR_COMPUTES_AXIS,
};

static const struct option options[] = {TRIAL_OPTIONS("50", "20", "0.05"), MEETING_OPTIONS};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct way *way = cell_choice(cell, "way");
    const struct target_state *state = cell_choice(cell, "target_state");
    const size_t elements = (size_t)cell_number(cell, "elements");
    struct gather own = {.served = {.serves = way->serves, .go = way->go, .answer = pack}};
    struct writes *writes = &own.served.writes;
    if (!served_is_supported(launch, way->serves, state->computes, record)) {
        return;
    }
    *writes = writes_of_elements(launch, cell, record, (double)elements);
    writes->operation = operation_named("get");
    writes->layout = &layout_scattered;
    writes->holds_lock_all = true;
    own.places = allocate(elements, sizeof own.places[0]);
    own.requests = allocate(elements, sizeof own.requests[0]);
    own.statuses = allocate(elements, sizeof own.statuses[0]);
    own.packed = allocate(elements, sizeof own.packed[0]);
    own.type = layout_make_type(&layout_scattered, (int)elements);
    for (size_t i = 0; i < elements; i++) {
        own.places[i] = (MPI_Aint)(layout_scattered.place(i, elements) * sizeof(int64_t));
    }
    served_run(&own.served, state->computes);
    layout_free_type(&own.type);
    free(own.packed);
    free(own.statuses);
    free(own.requests);
    free(own.places);
}

KERNEL("gather", "time in which scattered elements of another rank come here", .run_cell = run_cell)
