/* Epochs: what does an epoch on several ranks cost, by one call or by a lock of each rank? Does a
 * wait for one request also wait for other requests? Is MPI_Fetch_and_op faster than
 * MPI_Get_accumulate?
 *
 * Source: James Dinan, Pavan Balaji, Darius Buntinas, David Goodell, William Gropp, Rajeev Thakur,
 * "An implementation and evaluation of the MPI 3.0 one-sided communication interface": its lock_all
 * asks a rank for a lock with the first access to that rank (section 4.2), its wait for a request
 * flushes the target (4.3), and MPI_Fetch_and_op leaves a library more to optimise than
 * MPI_Get_accumulate (2.2.1). Rank 0 accesses the ranks after it, which wait in a barrier. Timed,
 * in seconds: an epoch with its accesses; with requests the wait alone, without the calls that
 * begin the requests. Verified: every element at its rank, and every element that was fetched. */
#include "dinan/epochs/epochs.h"
#include "mpi/trial.h"

/* How an epoch begins and ends. */
struct way {
    const char *name;
    bool is_held;      /* one lock_all stays open for all samples */
    bool has_requests; /* each access has one */
    /* THE TIMED PART of rank 0: the accesses to these slots of each target; returns seconds. */
    double (*go)(struct epochs *epochs, long long slot);
};

/* ---- THE TIMED PARTS ---- */

#define HERE(part) epochs->part + element, epochs->elements, MPI_INT64_T
#define THERE target, place, epochs->elements, MPI_INT64_T

static void begin_access(struct epochs *epochs, int target, long long slot, MPI_Request *request)
{
    const MPI_Win window = epochs->window.handle;
    const size_t element = element_of(epochs, target, slot);
    const MPI_Aint place = epochs->window.begins[target] +
                           (MPI_Aint)slot * epochs->elements * (MPI_Aint)sizeof(int64_t);
    if (epochs->access->is_of_one_element) {
        CHECKED(MPI_Fetch_and_op(epochs->payload + element, epochs->result + element, MPI_INT64_T,
                                 target, place, MPI_REPLACE, window));
    } else if (epochs->access->fetches && request != NULL) {
        CHECKED(
            MPI_Rget_accumulate(HERE(payload), HERE(result), THERE, MPI_REPLACE, window, request));
    } else if (epochs->access->fetches) {
        CHECKED(MPI_Get_accumulate(HERE(payload), HERE(result), THERE, MPI_REPLACE, window));
    } else if (request != NULL) {
        CHECKED(MPI_Rput(HERE(payload), THERE, window, request));
    } else {
        CHECKED(MPI_Put(HERE(payload), THERE, window));
    }
}

static void begin_accesses(struct epochs *epochs, long long slot, MPI_Request *requests)
{
    for (int target = 1; target <= epochs->targets; target++) {
        for (int i = 0; i < epochs->operations; i++) {
            begin_access(epochs, target, slot + i, requests == NULL ? NULL : requests++);
        }
    }
}

static double in_lock_all(struct epochs *epochs, long long slot)
{
    const double begin_s = clock_now_s();
    CHECKED(MPI_Win_lock_all(0, epochs->window.handle));
    begin_accesses(epochs, slot, NULL);
    CHECKED(MPI_Win_unlock_all(epochs->window.handle));
    return clock_now_s() - begin_s;
}

static double in_locks(struct epochs *epochs, long long slot, int first, int last)
{
    const double begin_s = clock_now_s();
    for (int rank = first; rank <= last; rank++) {
        CHECKED(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, epochs->window.handle));
    }
    begin_accesses(epochs, slot, NULL);
    for (int rank = first; rank <= last; rank++) {
        CHECKED(MPI_Win_unlock(rank, epochs->window.handle));
    }
    return clock_now_s() - begin_s;
}

static double in_locks_of_targets(struct epochs *epochs, long long slot)
{
    return in_locks(epochs, slot, 1, epochs->targets);
}

static double in_locks_of_all(struct epochs *epochs, long long slot)
{
    return in_locks(epochs, slot, 0, epochs->launch->ranks - 1);
}

static double flushed(struct epochs *epochs, long long slot)
{
    const double begin_s = clock_now_s();
    begin_accesses(epochs, slot, NULL);
    for (int target = 1; target <= epochs->targets; target++) {
        CHECKED(MPI_Win_flush(target, epochs->window.handle));
    }
    return clock_now_s() - begin_s;
}

static double waited(struct epochs *epochs, long long slot, int number)
{
    const int every = epochs->targets * epochs->operations;
    begin_accesses(epochs, slot, epochs->requests);
    const double begin_s = clock_now_s();
    CHECKED(MPI_Waitall(number, epochs->requests, MPI_STATUSES_IGNORE));
    const double end_s = clock_now_s();
    CHECKED(MPI_Waitall(every, epochs->requests, MPI_STATUSES_IGNORE));
    CHECKED(MPI_Win_flush_all(epochs->window.handle));
    return end_s - begin_s;
}

static double waited_for_first(struct epochs *epochs, long long slot)
{
    return waited(epochs, slot, 1);
}

static double waited_for_all(struct epochs *epochs, long long slot)
{
    return waited(epochs, slot, epochs->targets * epochs->operations);
}

static double go(void *state, long long burst)
{
    struct epochs *epochs = state;
    double passed_s = 0;
    for (long long i = 0; epochs->launch->rank == ORIGIN && i < burst; i++) {
        passed_s += epochs->way->go(epochs, i * epochs->operations);
    }
    return passed_s;
}

/* ---- Axes, options, samples ---- */

static const struct way ways[] = {
    {"lock_all", false, false, in_lock_all},
    {"locks_of_targets", false, false, in_locks_of_targets},
    {"locks_of_all", false, false, in_locks_of_all},
    {"flush", true, false, flushed},
    {"wait_for_first", true, true, waited_for_first},
    {"wait_for_all", true, true, waited_for_all},
};

static const struct access accesses[] = {
    {"put", false, false},
    {"fetch_and_op", true, true},
    {"get_accumulate", true, false},
};

static const struct axis axes[] = {
    CHOICE_AXIS("epoch", "what begins and completes the accesses",
                "lock_all,locks_of_targets,locks_of_all,flush,wait_for_first,wait_for_all", ways),
    CHOICE_AXIS("operation", "what an access is", "put", accesses),
    FLAVOR_AXIS("allocate"),
    INTEGER_AXIS("targets", "ranks that are accessed", "1", 0, 1 << 20),
    INTEGER_AXIS("operations", "accesses to each of them in an epoch", "1", 1, 1 << 10),
    INTEGER_AXIS("size_bytes", "size of an access, a multiple of 8", "8", 8, 1 << 20),
};

static const struct option options[] = {TRIAL_OPTIONS("100", "20", "0.05")};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    struct epochs epochs = {.launch = launch,
                            .way = cell_choice(cell, "epoch"),
                            .access = cell_choice(cell, "operation"),
                            .at_target = {.name = "target"},
                            .at_origin = {.name = "fetched"}};
    if (!content_open(&epochs, cell, record, epochs.way->has_requests)) {
        return;
    }
    if (epochs.way->is_held && launch->rank == ORIGIN) {
        window_hold(&epochs.window);
    }
    const struct trial trial = {.launch = launch,
                                .cell = cell,
                                .record = record,
                                .state = &epochs,
                                .longest = epochs.slots / epochs.operations,
                                .prepare = content_prepare,
                                .go = go,
                                .check = content_check,
                                .time = "epoch"};
    trial_run(&trial);
    content_close(&epochs, record);
}

KERNEL("epochs", "time of an epoch on several ranks, and of a wait for one request",
       .run_cell = run_cell)
