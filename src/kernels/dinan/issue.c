/* Issue: does an operation leave where it is called, or where it is completed?
 *
 * Source: James Dinan, Pavan Balaji, Darius Buntinas, David Goodell, William Gropp, Rajeev Thakur,
 * "An implementation and evaluation of the MPI 3.0 one-sided communication interface", section 7.1:
 * a library may issue an operation at its call (eager), or keep it until the call that completes
 * it, where lock, operation and unlock can be one message (lazy). Here rank 1 begins operations on
 * rank 0, makes no further one-sided call for a while, and then completes the operations. Rank 0 is
 * in MPI all the time, and looks at its memory. Recorded: the share of the operations that arrived
 * before rank 1 began the call that completes them (`early`), and the time of this call, in
 * seconds. Verified: every element. */
#include "harness/memory.h"
#include "mpi/probing.h"
#include "mpi/world.h"
#include "slots/accesses.h"
#include "slots/bursts.h"

#include <stdlib.h>

#define ORIGIN 1
#define PROBING_S 10e-6
#define COMPLETE_TAG 1
#define ARRIVALS_TAG 2

/* The epoch of the operations: a lock of their own, or one lock_all for all samples. */
struct way {
    const char *name;
    bool is_held;
    int lock_type;
};

static const struct way ways[] = {{"lock", false, MPI_LOCK_SHARED},
                                  {"exclusive_lock", false, MPI_LOCK_EXCLUSIVE},
                                  {"flush", true, 0}};

struct call {
    const char *name;
    void (*begin)(const struct slots *slots, long long slot);
};

static const struct call calls[] = {{"put", put_slot}, {"replace", replace_slot}};

static const struct pause {
    const char *name;
    bool probes;
} pauses[] = {{"computes", false}, {"probes", true}};

struct issue {
    struct slots slots; /* first */
    const struct way *way;
    const struct call *call;
    const struct pause *pause;
    double length_s;                   /* of the pause */
    int64_t *before;                   /* by slot, at rank 0: its last element before the burst */
    double *arrivals;                  /* by slot: when rank 0 saw its data */
    double completing_s, completed_s;  /* at rank 1: of the completing call */
    struct series *early, *completing; /* at rank 1 */
};

/* ---- THE TIMED PARTS ---- */

static double go_origin(struct issue *issue, long long burst)
{
    const MPI_Win window = issue->slots.transfer.epoch.window;
    struct compute *compute = &issue->slots.launch->compute;
    const double begin_s = clock_now_s();
    if (!issue->way->is_held) {
        CHECKED(MPI_Win_lock(issue->way->lock_type, TARGET, 0, window));
    }
    for (long long slot = 0; slot < burst; slot++) {
        issue->call->begin(&issue->slots, slot);
    }
    if (issue->pause->probes) {
        compute_probing(compute, issue->length_s, PROBING_S, NULL);
    } else {
        compute_slice(compute, issue->length_s);
    }
    issue->completing_s = clock_now_s();
    if (issue->way->is_held) {
        CHECKED(MPI_Win_flush(TARGET, window));
    } else {
        CHECKED(MPI_Win_unlock(TARGET, window));
    }
    issue->completed_s = clock_now_s();
    CHECKED(MPI_Send(NULL, 0, MPI_BYTE, TARGET, COMPLETE_TAG, world_communicator));
    return issue->completed_s - begin_s;
}

static volatile int64_t *last_element(const struct issue *issue, long long slot)
{
    int64_t *memory = (int64_t *)(void *)region_memory(&issue->slots, 0);
    return memory + (slot + 1) * issue->slots.elements - 1;
}

/* Rank 0 waits for the slots in their order: if a slot arrives before an earlier slot, rank 0 sees
 * both at the same time. The window is unified, so rank 0 sees the data without an epoch, in time
 * (MPI 4.1, 12.4). Data that are missing when rank 1 says that all is complete are found later, as
 * wrong data. */
static void go_target(struct issue *issue, long long burst)
{
    int is_complete = 0;
    for (long long slot = 0; slot < burst; slot++) {
        const volatile int64_t *element = last_element(issue, slot);
        while (!is_complete && *element == issue->before[slot]) {
            CHECKED(MPI_Iprobe(ORIGIN, COMPLETE_TAG, world_communicator, &is_complete,
                               MPI_STATUS_IGNORE));
        }
        issue->arrivals[slot] = clock_now_s();
    }
    CHECKED(
        MPI_Recv(NULL, 0, MPI_BYTE, ORIGIN, COMPLETE_TAG, world_communicator, MPI_STATUS_IGNORE));
}

static double go(void *state, long long burst)
{
    struct issue *issue = state;
    const int rank = issue->slots.launch->rank;
    if (rank == TARGET) {
        go_target(issue, burst);
    }
    return rank == ORIGIN ? go_origin(issue, burst) : 0;
}

/* ---- Axes, options, samples ---- */

static const struct axis axes[] = {
    CHOICE_AXIS("epoch", "a lock for the operations, or a flush in one lock_all",
                "lock,exclusive_lock,flush", ways),
    CHOICE_AXIS("operation", "what an operation is", "put,replace", calls),
    FLAVOR_AXIS("allocate"),
    CHOICE_AXIS("pause", "what rank 1 does between the operations and the call that completes them",
                "computes", pauses),
    INTEGER_AXIS("operations", "before the call that completes them", "1", 1, 1000),
    WRITE_BYTES_AXIS("8"),
};

static const struct option options[] = {
    TRIAL_OPTIONS("1000", "20", "1"),
    NUMBER_OPTION("pause-us", "MICROSECONDS", "length of the pause", "1000", 1, 1e6),
};

static void prepare(void *state, long long burst)
{
    struct issue *issue = state;
    slots_prepare(state, burst);
    if (issue->slots.is_target) {
        window_begin_own(issue->slots.window, MPI_LOCK_SHARED);
        for (long long slot = 0; slot < burst; slot++) {
            issue->before[slot] = *last_element(issue, slot);
        }
        window_end_own(issue->slots.window);
    }
}

/* Rank 0 tells rank 1 when it saw the data of each slot. */
static void keep(void *state, long long burst)
{
    struct issue *issue = state;
    struct record *record = issue->slots.record;
    const int rank = issue->slots.launch->rank;
    if (rank == TARGET) {
        CHECKED(MPI_Send(issue->arrivals, (int)burst, MPI_DOUBLE, ORIGIN, ARRIVALS_TAG,
                         world_communicator));
    } else if (rank == ORIGIN) {
        int early = 0;
        CHECKED(MPI_Recv(issue->arrivals, (int)burst, MPI_DOUBLE, TARGET, ARRIVALS_TAG,
                         world_communicator, MPI_STATUS_IGNORE));
        for (long long slot = 0; slot < burst; slot++) {
            early += issue->arrivals[slot] < issue->completing_s;
        }
        series_keep(record, &issue->early, "early", "1", burst, early / (double)burst);
        series_keep(record, &issue->completing, "completing", "s", 1,
                    issue->completed_s - issue->completing_s);
    }
}

static void take_samples(struct issue *issue)
{
    const size_t count = (size_t)issue->slots.count;
    issue->before = allocate(count, sizeof issue->before[0]);
    issue->arrivals = allocate(count, sizeof issue->arrivals[0]);
    struct trial trial = slots_trial(&issue->slots, NULL, false);
    trial.prepare = prepare;
    trial.go = go;
    trial.keep = keep;
    trial_run(&trial);
    free(issue->arrivals);
    free(issue->before);
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const double elements = cell_number(cell, "size_bytes") / sizeof(int64_t);
    const long long operations = (long long)cell_number(cell, "operations");
    struct issue issue = {.slots = slots_of_elements(launch, cell, record, elements, operations),
                          .way = cell_choice(cell, "epoch"),
                          .call = cell_choice(cell, "operation"),
                          .pause = cell_choice(cell, "pause"),
                          .length_s = 1e-6 * options_number(&launch->options, "pause-us")};
    issue.slots.origins = 1;
    issue.slots.holds_lock_all = issue.way->is_held;
    if (!launch->clock_is_global) {
        record_status(record, CELL_UNSUPPORTED, "the clocks of the ranks cannot be compared");
    } else if (slots_open(&issue.slots)) {
        if (is_unified(&issue.slots)) {
            take_samples(&issue);
        }
        slots_close(&issue.slots);
    }
}

KERNEL("issue", "whether operations arrive before the call that completes them",
       .run_cell = run_cell)
