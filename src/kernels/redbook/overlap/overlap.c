/* Overlap: is a transfer hidden behind a computation?
 *
 * Source: Marcelo Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM
 * SG24-5611, 1999), section 4.2.7 with Figures 37 and 38: one thread of a process communicates
 * while the others compute, so that a time step takes the longer of the two times in place of their
 * sum. Here an origin begins a transfer, computes, and waits for the transfer; or a second thread
 * of the origin makes the whole transfer meanwhile. Timed, in seconds, in each sample: the transfer
 * alone, the compute alone, both at once. The compute is fixed work, as long as the transfer alone
 * took in the warm-up (series `length`). Verified: every element of every transfer; a burst that
 * times the compute alone makes its transfers after the compute. */
#include <stdlib.h>

#include "harness/memory.h"
#include "redbook/overlap/overlap.h"

static const struct axis axes[] = {
    CHOICE_AXIS("transfer", "how an origin transfers, and which of its threads does",
                "isend,put,rput,get", ways),
    FLAVOR_ONLY_WITH_AXIS("allocate", "transfer=" ONE_SIDED),
    WRITE_BYTES_AXIS("65536"),
    CHOICE_AXIS("peer", "what rank 0 does while an origin transfers and computes",
                "in_mpi,computes", peers),
};

static const struct option options[] = {
    TRIAL_OPTIONS("100", "10", "0.05"),
    NUMBER_OPTION("compute-us", "MICROSECONDS",
                  "length of a compute; 0: as long as the transfer alone in the warm-up", "0", 0,
                  1e7),
};

/* ---- THE TIMED LOOP: a transfer, a compute, or both at once ---- */

static void compute_or_transfer(void *state, int number)
{
    struct overlap *own = state;
    if (number == 0) {
        compute_once(own);
    } else {
        own->way->begin(own, own->slot);
        own->way->end(own, own->slot);
    }
}

static void go(struct overlap *own, long long burst, bool transfers, bool computes)
{
    const bool has_two_threads = transfers && computes && own->way->by_thread;
    for (long long slot = 0; slot < burst; slot++) {
        if (has_two_threads) {
            own->slot = slot;
            team_run(&own->team);
            continue;
        }
        if (transfers) {
            own->way->begin(own, slot);
        }
        if (computes) {
            compute_once(own);
        }
        if (transfers) {
            own->way->end(own, slot);
        }
    }
}

/* ---- The three timings of a sample, all ranks ---- */

static double time_burst(struct overlap *own, long long burst, bool transfers, bool computes)
{
    const struct slots *slots = &own->slots;
    if (slots->launch->rank == TARGET) {
        peer_take_part(own, burst, transfers && computes);
        return 0;
    }
    own->team.task = compute_or_transfer;
    const double begin_s = clock_now_s();
    go(own, burst, transfers, computes);
    const double passed_s = clock_now_s() - begin_s;
    if (!transfers) {
        go(own, burst, true, false); /* each burst transfers its payloads */
    }
    return passed_s;
}

static double time_transfer(void *state, long long burst)
{
    return time_burst(state, burst, true, false);
}

static double time_compute(void *state, long long burst)
{
    return time_burst(state, burst, false, true);
}

static double time_both(void *state, long long burst)
{
    return time_burst(state, burst, true, true);
}

static const struct sample_timing timings[] = {
    {"transfer", time_transfer}, {"compute", time_compute}, {"both", time_both}};

/* The compute is as long as the transfer alone, unless a length is given. */
static double choose_length(void *state, double transfer_s)
{
    struct overlap *own = state;
    const struct launch *launch = own->slots.launch;
    const double asked_s = 1e-6 * options_number(&launch->options, "compute-us");
    own->length_s = asked_s > 0 ? asked_s : transfer_s;
    if (launch->rank != TARGET) {
        series_add(record_series(own->slots.record, "length", "s", 1), own->length_s);
    }
    return 2 * (transfer_s + own->length_s);
}

/* ---- One cell ---- */

static void prepare(void *state, long long burst)
{
    struct overlap *own = state;
    own->prepare(state, burst);
    if (own->slots.launch->rank == TARGET) {
        peer_prepare(own, burst);
    }
}

/* Only one thread is in MPI at a time. False, with the reason in the record, if two threads may not
 * call MPI in turn. */
static bool may_use_threads(const struct overlap *own)
{
    const struct launch *launch = own->slots.launch;
    const bool may = !own->way->by_thread || launch->thread_provided >= THREAD_SERIALIZED;
    if (!may) {
        record_status(own->slots.record, CELL_UNSUPPORTED,
                      "a communication thread needs MPI_THREAD_SERIALIZED: asked for %s, provided "
                      "%s",
                      thread_level_name(launch->thread_required),
                      thread_level_name(launch->thread_provided));
    }
    return may;
}

/* Count this rank's threads and the threads that need a core; a rank that sleeps needs no core. */
static void count_threads(struct overlap *own)
{
    const bool is_target = own->slots.launch->rank == TARGET;
    const bool has_second = is_target ? peer_has_thread(own) : own->way->by_thread;
    own->team = (struct team){.count = has_second ? 2 : 1, .state = own, .sleeps = true};
    own->slots.record->helper_threads =
        own->slots.launch->busy_threads + has_second - (is_target && own->peer->sleeps);
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    struct overlap own = {.way = cell_choice(cell, "transfer"), .peer = cell_choice(cell, "peer")};
    struct slots *slots = &own.slots;
    *slots = slots_of(launch, cell, record);
    slots->holds_lock_all = true;
    if (own.way->sends) {
        slots->flavor = &flavors[FLAVOR_ALLOCATE];
    }
    if (own.way->gets) {
        slots->makes = operation_named("get");
    }
    if (!may_use_threads(&own) || !slots_open(slots)) {
        return;
    }
    own.receives = allocate((size_t)slots->count * (size_t)launch->ranks, sizeof(MPI_Request));
    count_threads(&own);
    team_open(&own.team);
    struct trial trial = slots_trial(slots, NULL, false);
    trial.go = time_transfer;
    own.prepare = trial.prepare;
    trial.prepare = prepare;
    trial.timing_count = sizeof timings / sizeof timings[0];
    trial.timings = timings;
    trial.warmed = choose_length;
    trial_run(&trial);
    team_close(&own.team);
    slots_close(slots);
    free(own.receives);
}

KERNEL("overlap", "time of a transfer, of a compute, and of both at once", .run_cell = run_cell)
