/* Ordering: each rank writes to rank 0, and reads back what it wrote.
 *
 * Source: James Dinan, Pavan Balaji, Darius Buntinas, David Goodell, William Gropp, Rajeev Thakur,
 * "An implementation and evaluation of the MPI 3.0 one-sided communication interface", section 5.3
 * and its figure 6. MPI does not order a put and a get. In MPI-2 each needs an epoch of its own. In
 * MPI-3 a flush between them is enough, or accumulates, which are ordered unless the window's info
 * accumulate_ordering says "none". Timed, in seconds: a write and the read after it, the mean of a
 * burst; a single one that meets rank 0 while it computes. Verified: every element written, and
 * every element read. Without ordering a read may find the element from before its write; such
 * reads are counted. Bound: a store and a load in a shared window. */
#include "rma/computing.h"
#include "slots/accesses.h"

/* How the read is ordered after its write. */
struct idiom {
    const char *name;
    bool holds_lock_all;
    bool is_unordered; /* the read may take effect before its write */
    /* THE TIMED LOOP of a rank that writes and reads. */
    void (*loop)(struct slots *slots, long long burst);
};

struct ordering {
    struct slots slots; /* first */
    const struct idiom *idiom;
    bool is_stale; /* for tests */
    double older;  /* of a burst: reads that found an element from before their write */
    struct series *older_series;
};

/* ---- THE TIMED LOOPS ---- */

INLINE void in_epochs(const struct slots *slots, long long burst, int lock_type)
{
    for (long long slot = 0; slot < burst; slot++) {
        CHECKED(MPI_Win_lock(lock_type, TARGET, 0, slots->transfer.epoch.window));
        put_slot(slots, slot);
        CHECKED(MPI_Win_unlock(TARGET, slots->transfer.epoch.window));
        CHECKED(MPI_Win_lock(lock_type, TARGET, 0, slots->transfer.epoch.window));
        get_slot(slots, slot);
        CHECKED(MPI_Win_unlock(TARGET, slots->transfer.epoch.window));
    }
}

static void in_exclusive_epochs(struct slots *slots, long long burst)
{
    in_epochs(slots, burst, MPI_LOCK_EXCLUSIVE);
}

static void in_shared_epochs(struct slots *slots, long long burst)
{
    in_epochs(slots, burst, MPI_LOCK_SHARED);
}

static void flushed(struct slots *slots, long long burst)
{
    for (long long slot = 0; slot < burst; slot++) {
        put_slot(slots, slot);
        CHECKED(MPI_Win_flush(TARGET, slots->transfer.epoch.window));
        get_slot(slots, slot);
        CHECKED(MPI_Win_flush(TARGET, slots->transfer.epoch.window));
    }
}

/* The request of a read is complete when the data are here; that of a write says nothing about rank
 * 0. */
static void requested(struct slots *slots, long long burst)
{
    for (long long slot = 0; slot < burst; slot++) {
        rput_slot(slots, slot);
        CHECKED(MPI_Win_flush(TARGET, slots->transfer.epoch.window));
        rget_slot(slots, slot);
    }
}

static void accumulated(struct slots *slots, long long burst)
{
    for (long long slot = 0; slot < burst; slot++) {
        replace_slot(slots, slot);
        fetch_slot(slots, slot);
        CHECKED(MPI_Win_flush(TARGET, slots->transfer.epoch.window));
    }
}

static void stored(struct slots *slots, long long burst)
{
    for (long long slot = 0; slot < burst; slot++) {
        store_slot(slots, slot);
        CHECKED(MPI_Win_sync(slots->transfer.epoch.window));
        load_slot(slots, slot);
    }
}

static const struct idiom idioms[] = {
    {"exclusive_epochs", false, false, in_exclusive_epochs},
    {"shared_epochs", false, false, in_shared_epochs},
    {"flush", true, false, flushed},
    {"request", true, false, requested},
    {"ordered_accumulates", true, false, accumulated},
    {"unordered_accumulates", true, true, accumulated},
    {"stores", true, false, stored},
};

static const struct axis axes[] = {
    CHOICE_AXIS("idiom", "how a read is kept behind its write",
                "exclusive_epochs,shared_epochs,flush,request,ordered_accumulates,"
                "unordered_accumulates,stores",
                idioms),
    FLAVOR_OF_IDIOM_AXIS("exclusive_epochs,shared_epochs,flush,request,ordered_accumulates,"
                         "unordered_accumulates"),
    WRITE_BYTES_AXIS("8"),
    IDLE_OR_COMPUTES_AXIS,
};

static const struct option options[] = {
    TRIAL_OPTIONS("100", "20", "0.05"),
    MEETING_OPTIONS,
    {"stale-read", NULL, "for tests: the last read of a burst finds what was there before",
     OPTION_FLAG, NULL, 0, 0},
};

/* Each read finds the written element. Without ordering, any element may be from before the
 * write. */
static void compare(struct slots *slots, long long burst)
{
    struct ordering *ordering = (struct ordering *)slots;
    const int64_t *model = slots->region[slots->begin].model, *written = slots->transfer.payload;
    int64_t *result = slots->transfer.result;
    const long long end = burst * slots->elements;
    ordering->older = 0;
    for (long long i = 0; ordering->is_stale && i < slots->elements; i++) {
        result[end - 1 - i] = model[end - 1 - i];
    }
    for (long long slot = 0; slot < burst; slot++) {
        bool is_older = false;
        for (long long i = slot * slots->elements; i < (slot + 1) * slots->elements; i++) {
            const bool is_before = result[i] == model[i];
            const bool may_be = ordering->idiom->is_unordered && is_before;
            verify_element(&slots->at_origin, result[i], may_be ? model[i] : written[i], (size_t)i,
                           slots->sample);
            is_older = is_older || is_before;
        }
        ordering->older += is_older;
    }
}

static void keep(void *state, long long burst)
{
    struct ordering *ordering = state;
    struct slots *slots = &ordering->slots;
    if (slots->launch->rank != TARGET) {
        series_keep(slots->record, &ordering->older_series, "older", "1", burst,
                    ordering->older / (double)burst);
    }
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    struct ordering ordering = {.idiom = cell_choice(cell, "idiom"),
                                .is_stale = options_flag(&launch->options, "stale-read")};
    struct slots *slots = &ordering.slots;
    const struct target_state *state = cell_choice(cell, "target_state");
    *slots = slots_of(launch, cell, record);
    slots->holds_lock_all = ordering.idiom->holds_lock_all;
    slots->loop = ordering.idiom->loop;
    slots->fetches = true;
    slots->compare = compare;
    if (state->computes && !meeting_is_supported(launch, record)) {
        return;
    }
    if (ordering.idiom->is_unordered) {
        slots->info_key = "accumulate_ordering";
        slots->info_value = "none";
    }
    if (slots_open(slots)) {
        struct trial trial = slots_trial(slots, "pair", state->computes);
        trial.keep = keep;
        trial_run(&trial);
        slots_close(slots);
    }
}

KERNEL("ordering", "time of a write and of the read after it that finds what was written",
       .run_cell = run_cell)
