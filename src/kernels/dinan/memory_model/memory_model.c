/* Memory models: other ranks write to rank 0's window while rank 0 reads and writes another part of
 * it.
 *
 * Source: James Dinan, Pavan Balaji, Darius Buntinas, David Goodell, William Gropp, Rajeev Thakur,
 * "An implementation and evaluation of the MPI 3.0 one-sided communication interface", section 5.1.
 * In the separate model a store and a put must not happen at the same time in one window, so both
 * are in exclusive epochs. In the unified model they may if they do not overlap, so epochs are
 * shared. Rank 0 repeats an epoch of loads and stores of a given length until all others have
 * written. Timed, in seconds: a write, the mean of a burst; an epoch of rank 0; single writes that
 * meet such an epoch. Verified: every element written; every element of rank 0's own part. Bound:
 * stores to a shared window. */
#include "dinan/memory_model/own_part.h"
#include "slots/accesses.h"

#define LEAD 0.05 /* share of rank 0's epoch after which the others begin */

/* What rank 0 does meanwhile. */
struct target_state {
    const char *name;
    bool accesses; /* its own part, in epochs, until all others have written */
    bool computes; /* one long epoch; meanwhile each other rank makes a write */
};

struct model {
    struct slots slots; /* first */
    const struct idiom *idiom;
    const struct target_state *state;
    double interval_s;
    struct own_part part;     /* rank 0's */
    struct own_epochs epochs; /* of a burst */
    struct series *epoch, *count, *cut;
};

/* The epochs in which both sides access the window. */
struct idiom {
    const char *name;
    int lock_type; /* of both sides; 0: all ranks hold a lock_all */
    bool is_separate;
    /* THE TIMED LOOP of a rank that writes. */
    void (*write)(const struct slots *slots, long long burst);
};

/* ---- THE TIMED LOOPS ---- */

INLINE void write_locked(const struct slots *slots, long long burst, int lock_type)
{
    for (long long slot = 0; slot < burst; slot++) {
        CHECKED(MPI_Win_lock(lock_type, TARGET, 0, slots->transfer.epoch.window));
        put_slot(slots, slot);
        CHECKED(MPI_Win_unlock(TARGET, slots->transfer.epoch.window));
    }
}

static void write_exclusive(const struct slots *slots, long long burst)
{
    write_locked(slots, burst, MPI_LOCK_EXCLUSIVE);
}

static void write_shared(const struct slots *slots, long long burst)
{
    write_locked(slots, burst, MPI_LOCK_SHARED);
}

static void write_flush(const struct slots *slots, long long burst)
{
    for (long long slot = 0; slot < burst; slot++) {
        put_slot(slots, slot);
        CHECKED(MPI_Win_flush(TARGET, slots->transfer.epoch.window));
    }
}

/* The request says that the memory here is free; the flush says that the data are at rank 0. */
static void write_request(const struct slots *slots, long long burst)
{
    for (long long slot = 0; slot < burst; slot++) {
        rput_slot(slots, slot);
        CHECKED(MPI_Win_flush(TARGET, slots->transfer.epoch.window));
    }
}

static void write_stores(const struct slots *slots, long long burst)
{
    for (long long slot = 0; slot < burst; slot++) {
        store_slot(slots, slot);
        CHECKED(MPI_Win_sync(slots->transfer.epoch.window));
    }
}

static const struct idiom idioms[] = {
    {"exclusive_locks", MPI_LOCK_EXCLUSIVE, true, write_exclusive},
    {"shared_locks", MPI_LOCK_SHARED, false, write_shared},
    {"lock_all", 0, false, write_flush},
    {"lock_all_request", 0, false, write_request},
    {"stores", 0, false, write_stores},
};

static double go(void *state, long long burst)
{
    struct model *model = state;
    struct slots *slots = &model->slots;
    struct launch *launch = slots->launch;
    const bool meets = model->state->accesses;
    if (launch->rank == TARGET) {
        if (meets) {
            const long long most = options_integer(&launch->options, "epochs");
            model->epochs = own_part_access_until(&model->part, model->interval_s, most);
        }
        return 0;
    }
    compute_for(&launch->compute, LEAD * model->interval_s);
    const double begin_s = clock_now_s();
    model->idiom->write(slots, burst);
    const double passed_s = clock_now_s() - begin_s;
    if (meets) {
        own_part_end_epochs();
    }
    return passed_s;
}

static const struct target_state target_states[] = {
    {"idle", false, false},
    {"accesses", true, false},
    {"computes", false, true},
};
static const struct axis axes[] = {
    CHOICE_AXIS("idiom", "in which epochs both sides access the window",
                "exclusive_locks,shared_locks,lock_all,lock_all_request,stores", idioms),
    FLAVOR_OF_IDIOM_AXIS("exclusive_locks,shared_locks,lock_all,lock_all_request"),
    WRITE_BYTES_AXIS("8"),
    CHOICE_AXIS("target_state", "what rank 0 does meanwhile", "idle,accesses,computes",
                target_states),
    {.name = "interval_us",
     .help = "microseconds of an epoch in which rank 0 accesses its own part",
     .kind = AXIS_NUMBER,
     .fallback = "1000",
     .minimum = 1,
     .maximum = 1000000,
     .only_with = "target_state=accesses"},
};

static const struct option options[] = {
    TRIAL_OPTIONS("10", "20", "0.02"),
    MEETING_OPTIONS,
    {"epochs", "N", "of rank 0 in a burst, at most", OPTION_INTEGER, "100", 1, 1000000},
    {"lost-store", NULL, "for tests: rank 0 loses a store to its own part", OPTION_FLAG, NULL, 0,
     0},
};

static void keep(void *state, long long burst)
{
    struct model *model = state;
    struct record *record = model->slots.record;
    (void)burst;
    if (model->slots.launch->rank == TARGET && model->state->accesses) {
        series_keep(record, &model->epoch, "epoch", "s", 1, model->epochs.mean_s);
        series_keep(record, &model->count, "epochs", "count", 1, (double)model->epochs.count);
        series_keep(record, &model->cut, "cut", "flag", 1, model->epochs.is_cut);
    }
}

static struct compute_sample compute(void *state, double length_s)
{
    return own_part_access(&((struct model *)state)->part, length_s);
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    struct model model = {.idiom = cell_choice(cell, "idiom"),
                          .state = cell_choice(cell, "target_state"),
                          .interval_s = 1e-6 * cell_number(cell, "interval_us")};
    struct slots *slots = &model.slots;
    *slots = slots_of(launch, cell, record);
    slots->more_bytes = own_part_bytes();
    slots->holds_lock_all = model.idiom->lock_type == 0;
    if ((model.state->computes && !meeting_is_supported(launch, record)) || !slots_open(slots)) {
        return;
    }
    if (model.idiom->is_separate || is_unified(slots)) {
        struct trial trial = slots_trial(slots, "write", model.state->computes);
        trial.go = go;
        trial.keep = keep;
        trial.compute = compute;
        trial.is_behind = model.idiom->is_separate;
        const bool loses = options_flag(&launch->options, "lost-store");
        if (launch->rank == TARGET) {
            own_part_open(&model.part, slots->window, model.idiom->lock_type);
        }
        trial_run(&trial);
        if (launch->rank == TARGET) {
            record_verification(record, own_part_check(&model.part, loses));
        }
    }
    slots_close(slots);
}

KERNEL("memory_model", "time of a write to a rank that accesses its own part of the window",
       .run_cell = run_cell)
