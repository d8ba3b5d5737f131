/* Mutex: how long does it take to lock a mutex and to unlock it again, while all ranks want the
 * mutex?
 *
 * Source: James Dinan, Pavan Balaji, Darius Buntinas, David Goodell, William Gropp, Rajeev Thakur,
 * "An implementation and evaluation of the MPI 3.0 one-sided communication interface", section 5.2:
 * a vector of bytes under exclusive locks (MPI-2), and the MCS queue on atomic operations (MPI-3).
 * Each access of MCS is in a shared lock of its own, as in the source, or all are in one lock_all.
 * Further algorithms: MCS with requests, MCS that hands over by a word, a compare-and-swap lock
 * with exponential back-off, and the same lock with C's atomic operations in shared memory, as the
 * bound within a node. Timed, in seconds: a cycle of lock, critical section and unlock. Verified:
 * each passage of the critical section (section.h), each word that a swap of MCS fetches, and that
 * the mutex is free after a burst. */
#include "dinan/mutex/mutex.h"

#include "harness/meeting.h"
#include "mpi/checked.h"
#include "mpi/trial.h"
#include "mpi/world.h"

#define WITH_FLAVOR "byte_vector,mcs,mcs_shared_locks,mcs_request,mcs_spin,compare_and_swap"
#define FEWEST_CYCLES 10 /* of a rank in a burst, for a value of fairness */

/* What the host (the target) does while the others lock and unlock. */
struct target_state {
    const char *name;
    bool takes, computes;
};

static const struct target_state target_states[] = {
    {"takes_part", true, false}, {"idle", false, false}, {"computes", false, true}};

static const struct axis axes[] = {
    CHOICE_AXIS("algorithm", "how the mutex is locked", WITH_FLAVOR ",c_atomics", algorithms),
    FLAVOR_ONLY_WITH_AXIS("create,allocate", "algorithm=" WITH_FLAVOR),
    CHOICE_AXIS("section", "where the counter of the critical section is", "memory", section_kinds),
    CHOICE_AXIS("target_state", "what the mutex's host does while the others lock and unlock",
                "takes_part,computes", target_states),
};

static const struct option options[] = {
    TRIAL_OPTIONS("1000", "10", "0.02"),
    MEETING_OPTIONS,
    {"drop-release", "CYCLE",
     "for tests: the last rank does not unlock after this cycle of a burst", OPTION_INTEGER, NULL,
     0, 10000},
};

/* ---- THE TIMED LOOP ---- */

static void make_cycles(struct mutex *mutex, long long cycles)
{
    const struct algorithm *algorithm = mutex->algorithm;
    for (long long cycle = 0; cycle < cycles; cycle++) {
        watchdog_phase = "lock";
        algorithm->lock(mutex);
        mutex->section.taken[cycle] = mutex->section.kind->pass(&mutex->section);
        watchdog_phase = "unlock";
        if (cycle != mutex->unreleased) {
            algorithm->unlock(mutex);
        }
    }
}

static double go(void *state, long long burst)
{
    struct mutex *mutex = state;
    if (!mutex->takes) {
        return 0;
    }
    const double begin_s = clock_now_s();
    make_cycles(mutex, burst);
    return clock_now_s() - begin_s;
}

/* ---- Before and after a burst ---- */

static int first_taker(const struct mutex *mutex)
{
    const struct target_state *state = cell_choice(mutex->cell, "target_state");
    return state->takes ? 0 : 1;
}

static void prepare(void *state, long long burst)
{
    struct mutex *mutex = state;
    const bool is_last = mutex->rank == mutex->ranks - 1;
    mutex->burst++;
    (void)burst;
    const bool drops = is_last && options_text(&mutex->launch->options, "drop-release") != NULL;
    mutex->unreleased = drops ? options_integer(&mutex->launch->options, "drop-release") : NOBODY;
    mutex->surprises = 0;
    mutex_make_free(mutex);
    section_clear(&mutex->section);
}

static void check(void *state, long long burst)
{
    struct mutex *mutex = state;
    const long long total = burst * (mutex->ranks - first_taker(mutex));
    watchdog_phase = "verify";
    section_check(&mutex->section, total, mutex->takes ? burst : 0, mutex->burst);
    verify_element(&mutex->queue, mutex->surprises, 0, 0, mutex->burst);
    mutex_check_free(mutex);
    /* no rank clears the log before all ranks have read it */
    CHECKED(MPI_Barrier(world_communicator));
}

static void keep(void *state, long long burst)
{
    struct mutex *mutex = state;
    const int first = first_taker(mutex);
    if (mutex->rank == 0 && mutex->ranks - first >= 2 && burst >= FEWEST_CYCLES) {
        series_keep(mutex->record, &mutex->fairness, "fairness", "1", burst,
                    section_fairness(&mutex->section, first, burst));
    }
}

static void take_samples(struct mutex *mutex)
{
    const struct target_state *state = cell_choice(mutex->cell, "target_state");
    const struct trial trial = {.launch = mutex->launch,
                                .cell = mutex->cell,
                                .record = mutex->record,
                                .state = mutex,
                                .longest = options_integer(&mutex->launch->options, "burst"),
                                .prepare = prepare,
                                .go = go,
                                .check = check,
                                .time = "time",
                                .keep = keep,
                                .meets = state->computes,
                                .part = mutex->rank == HOST ? COMPUTES : ACCESSES};
    trial_run(&trial);
    record_verification(mutex->record, mutex->section.counter);
    record_verification(mutex->record, mutex->section.order);
    record_verification(mutex->record, mutex->queue);
    record_verification(mutex->record, mutex->left_free);
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct target_state *state = cell_choice(cell, "target_state");
    const struct section_kind *kind = cell_choice(cell, "section");
    const long long places = launch->ranks * options_integer(&launch->options, "burst");
    struct mutex mutex = {.launch = launch,
                          .cell = cell,
                          .record = record,
                          .algorithm = cell_choice(cell, "algorithm"),
                          .rank = launch->rank,
                          .ranks = launch->ranks,
                          .takes = state->takes || launch->rank != HOST,
                          .queue = {.name = "queue"},
                          .left_free = {.name = "left_free"}};
    watchdog_phase = "window";
    if ((state->computes && !meeting_is_supported(launch, record)) || !mutex_open(&mutex)) {
        return;
    }
    if (section_open(&mutex.section, launch, kind, places, record)) {
        take_samples(&mutex);
        watchdog_phase = "window";
        section_close(&mutex.section);
    }
    mutex_close(&mutex);
}

KERNEL("mutex", "time of a cycle of lock and unlock while all ranks want the mutex",
       .run_cell = run_cell)
