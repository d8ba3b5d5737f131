/* Linked list: how long do all ranks take to append to one list, and how long does one rank take to
 * read or write a pointer of the list?
 *
 * Source: James Dinan, Pavan Balaji, Darius Buntinas, David Goodell, William Gropp, Rajeev Thakur,
 * "An implementation and evaluation of the MPI 3.0 one-sided communication interface", section 5.4:
 * elements are attached to a dynamic window when they are made (build), or all before the timed
 * part (append). A rank follows the list to an end that is an element of the previous rank, and
 * appends its own element there. Pointers are read and written in three idioms: exclusive locks
 * with put and get, shared locks with accumulates, one lock_all with flushes. Two more idioms:
 * requests, and loads and stores in shared memory as the bound within a node. Timed, in seconds: an
 * element, as the mean over all elements that all ranks append; a read or a write of a pointer at
 * rank 0 by the last rank. Verified: each element, its place and value; each pointer that was read
 * or written (list.h says why a pointer is a single word). */
#include <sched.h>
#include <stdlib.h>

#include "dinan/linked_list/list.h"
#include "harness/memory.h"
#include "mpi/back_off.h"
#include "mpi/checked.h"
#include "mpi/trial.h"
#include "mpi/world.h"
#include "rma/computing.h"

#define LONGEST_BACK_OFF 16384 /* calls of MPI between two looks under an exclusive lock */
#define LOOKS 1000 /* at the end of the list, before the core is offered to another rank */

/* What is timed: a row of the axis. */
struct operation {
    const char *name;
    void (*prepare)(struct list *list, int burst);
    void (*go)(struct list *list, int burst);
    void (*check)(struct list *list, int burst);
    bool is_of_all;     /* all ranks append; else the last rank alone accesses elements */
    bool attaches_each; /* elements are attached when they are made; else all before */
};

/* ---- THE TIMED LOOPS ---- */

/* Follow the list from an element to the first element of the rank `owner`. */
static int64_t chase(const struct list *list, int64_t element, int owner)
{
    int calls = 1;
    for (long looks = 0; rank_of(element) != owner;) {
        const int64_t next = list->idiom->read(list, element);
        if (next != NULL_POINTER) {
            element = next;
            calls = 1;
            continue;
        }
        if (list->idiom->backs_off) {
            back_off(&calls, LONGEST_BACK_OFF);
        }
        if (list->idiom->needs_a_call) {
            int arrived = 0;
            CHECKED(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world_communicator, &arrived,
                               MPI_STATUS_IGNORE));
        }
        if (++looks % LOOKS == 0) {
            sched_yield();
        }
    }
    return element;
}

static void append(struct list *list, int burst)
{
    const int before = (list->rank + list->ranks - 1) % list->ranks;
    int64_t end = list->pointers[0];
    for (int i = 0; i < burst; i++) {
        const int64_t value = list_value(list, list_place(list, list->rank, i));
        const int64_t own = list_create(list, i, NULL_POINTER, value);
        end = chase(list, end, before);
        list->idiom->write(list, end, own);
        end = own;
    }
}

static void read_pointers(struct list *list, int burst)
{
    for (int i = 0; i < burst; i++) {
        list->results[i] = list->idiom->read(list, list->pointers[i]);
    }
}

static void write_pointers(struct list *list, int burst)
{
    for (int i = 0; i < burst; i++) {
        list->idiom->write(list, list->pointers[i], list_value(list, i));
    }
}

static const struct operation operations_of_list[] = {
    {"build", list_make_head, append, list_walk, true, true},
    {"append", list_make_head, append, list_walk, true, false},
    {"read", list_make_read, read_pointers, list_check_read, false, false},
    {"write", list_make_written, write_pointers, list_check_written, false, false}};

static const struct axis axes[] = {
    CHOICE_AXIS(
        "operation",
        "all ranks append to one list (build: and attach each element), or one rank reads or "
        "writes pointers",
        "append,read,write", operations_of_list),
    CHOICE_AXIS("idiom", "how a pointer is read and written",
                "exclusive,shared,lock_all,request,load_store", idioms),
    CHOICE_AXIS_ONLY_WITH("target_state", "what the rank with the elements does", "idle,computes",
                          idle_or_computes, "operation=read,write"),
};

static const struct option options[] = {TRIAL_OPTIONS("200", "10", "0.02"), MEETING_OPTIONS,
                                        WALK_OPTIONS};

/* ---- A cell ---- */

static bool takes_part(const struct list *list)
{
    return list->operation->is_of_all || list->rank == list->ranks - 1;
}

static void prepare(void *state, long long burst)
{
    struct list *list = state;
    list->burst++;
    list->operation->prepare(list, (int)burst);
}

static double go(void *state, long long burst)
{
    struct list *list = state;
    if (!takes_part(list)) {
        return 0;
    }
    const double begin_s = clock_now_s();
    list->operation->go(list, (int)burst);
    list->burst_s = clock_now_s() - begin_s;
    return list->burst_s;
}

static void check(void *state, long long burst)
{
    struct list *list = state;
    watchdog_phase = "verify";
    list->operation->check(list, (int)burst);
    CHECKED(MPI_Barrier(world_communicator));
    list_destroy(list);
}

static void keep(void *state, long long burst)
{
    struct list *list = state;
    const long long elements = list->operation->is_of_all ? burst * list->ranks : burst;
    if (takes_part(list)) {
        series_keep(list->record, &list->time, "time", "s", burst,
                    list->burst_s / (double)elements);
    }
}

static void take_samples(struct list *list, bool computes)
{
    const enum meeting_part other = takes_part(list) ? ACCESSES : LOOKS_ON;
    const struct trial trial = {.launch = list->launch,
                                .cell = list->cell,
                                .record = list->record,
                                .state = list,
                                .longest = list->capacity,
                                .prepare = prepare,
                                .go = go,
                                .check = check,
                                .keep = keep,
                                .meets = computes,
                                .part = list->rank == TARGET ? COMPUTES : other};
    trial_run(&trial);
    if (list->operation->is_of_all) {
        record_verification(list->record, list->order);
    }
    record_verification(list->record, list->values);
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct target_state *state = cell_choice(cell, "target_state");
    const bool computes = state != NULL && state->computes;
    struct list list = {.launch = launch,
                        .cell = cell,
                        .record = record,
                        .operation = cell_choice(cell, "operation"),
                        .idiom = cell_choice(cell, "idiom"),
                        .rank = launch->rank,
                        .ranks = launch->ranks,
                        .capacity = (int)options_integer(&launch->options, "burst"),
                        .order = {.name = "order"},
                        .values = {.name = "values"}};
    list.attaches_each = list.operation->attaches_each;
    const size_t total = (size_t)(list.capacity * list.ranks + 1);
    watchdog_phase = "window";
    if ((computes && !meeting_is_supported(launch, record)) || !list_open(&list)) {
        return;
    }
    list.pointers = allocate(total, sizeof list.pointers[0]);
    list.results = allocate((size_t)list.capacity, sizeof list.results[0]);
    take_samples(&list, computes);
    watchdog_phase = "window";
    list_close(&list);
    free(list.pointers);
    free(list.results);
}

KERNEL("linked_list", "time of appending to a list by all ranks, and of its pointers",
       .run_cell = run_cell)
