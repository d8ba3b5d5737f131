/* The uncontended latency of an operation: what it takes while nobody computes, in bursts of k. */
#include "mpi/latency.h"

#include <math.h>
#include <mpi.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "harness/memory.h"
#include "harness/plan.h"
#include "harness/watchdog.h"
#include "mpi/await.h"
#include "mpi/checked.h"
#include "mpi/shared_page.h"
#include "mpi/world.h"

#define ROUND_TRIPS 100
#define DISTANCE_SAMPLES 3
#define CACHE_LINE_BYTES 64
#define COLD_BURST 3   /* before the latency; its time decides how long a burst may be */
#define BURST_S 100e-6 /* of a latency: short, for it to fall between what else the core does */
#define BURST_LEAST 10 /* but not for that alone below so many operations */
#define LOOKS 4        /* at the core, before and after a burst, that have to agree */
#define OWN_CORE 0.85  /* of the most operations at a time seen: less is another's core too */

/* What the two cores that are looked at exchange outside MPI, each word on a line of its own. */
struct page {
    _Atomic uint64_t unused; /* shared_page_open writes here */
    alignas(CACHE_LINE_BYTES) _Atomic uint64_t asked;
    alignas(CACHE_LINE_BYTES) _Atomic uint64_t answered;
};

/* Of a launch. */
static struct plan *plans; /* by the cell's index; no samples: none yet */
static struct page *page;  /* NULL: not opened, or ranks that share no memory */
static bool page_opened;
static uint64_t trips;    /* round trips of a cache line so far */
static double most_width; /* of what `look_at_core` returned */

/* How long a burst may be, and how many of them: tenths of what was asked for, so that launches
 * seldom differ. */
static struct plan plan_latency(const struct timing *timing, double one_s)
{
    const struct options *asked = &timing->launch->options;
    struct plan plan = {.burst =
                            burst_within(options_integer(asked, "latency-burst"), timing->longest),
                        .samples = options_integer(asked, "latency-samples")};
    while (plan.burst / 10 >= BURST_LEAST && one_s * (double)plan.burst > BURST_S) {
        plan.burst /= 10;
    }
    return plan_bursts(plan, one_s, options_number(asked, "latency-budget-s"));
}

/* How far apart the two cores are just now: round trips of a cache line between them, with no MPI.
 * On a virtual machine that changes under a running program, and with it the latency of all that
 * passes from core to core. `series` is NULL at all other ranks. */
static void take_distance(const struct timing *timing, struct series *series)
{
    const MPI_Comm communicator = world_communicator;
    for (int sample = 0; page != NULL && sample < DISTANCE_SAMPLES; sample++) {
        const double begin_s = clock_now_s();
        for (int trip = 0; trip < ROUND_TRIPS; trip++) {
            const uint64_t number = ++trips;
            if (series != NULL) {
                atomic_store(&page->asked, number);
                await_word(&page->answered, number, communicator);
            } else if (timing->answers) {
                await_word(&page->asked, number, communicator);
                atomic_store(&page->answered, number);
            }
        }
        if (series != NULL) {
            series_add(series, (clock_now_s() - begin_s) / ROUND_TRIPS);
        }
    }
}

/* How many operations this core does at a time, the least of the latest looks. */
static double look_at_core(double looks[LOOKS], long long number)
{
    double least = looks[number % LOOKS] = core_width();
    for (int i = 0; i < LOOKS; i++) {
        least = fmin(least, looks[i]);
    }
    return least;
}

/* How many operations the target's core does at a time, before a latency and after it; within, the
 * target is in MPI. As many looks come first: a core that was about something else does less.
 * `series` is NULL at all other ranks. */
static void look_at_target(struct series *series)
{
    double least = INFINITY;
    for (int look = -LOOKS; series != NULL && look < LOOKS; look++) {
        const double width = core_width();
        least = look < 0 ? least : fmin(least, width);
    }
    if (series != NULL) {
        series_add(series, least);
    }
}

static void do_at(void (*what)(void *state, long long burst), const struct timing *timing,
                  long long burst)
{
    if (what != NULL) {
        what(timing->state, burst);
    }
}

/* At a rank that makes no bursts. */
static void follow(const struct timing *timing, long long bursts, long long burst)
{
    if (timing->follow != NULL) {
        timing->follow(timing->state, bursts, burst);
    }
}

/* One burst at a rank that makes them, prepared and verified; returns seconds. */
static double make_burst(const struct timing *timing, long long burst)
{
    do_at(timing->prepare, timing, burst);
    const double burst_s = timing->burst(timing->state, burst);
    do_at(timing->check, timing, burst);
    return burst_s;
}

/* Bursts until so many are sampled. Returns how many were made.
 *
 * Between them the rank looks how many operations its core does at a time. On a core that another
 * uses too, which no program can be told, the burst is made again while there is patience; what is
 * kept is chosen by the core alone, never by the time. Several looks in a row have to agree, for
 * the other may itself wait for some microseconds. */
static long long sample_bursts(const struct timing *timing, const struct plan *plan,
                               struct series *latency, struct series *width)
{
    const double patience_s = options_number(&timing->launch->options, "latency-patience-s");
    const double until_s = clock_now_s() + (timing->own_cores && timing->alone ? patience_s : 0.0);
    double looks[LOOKS];
    long long bursts = 0;
    for (int i = 0; i < LOOKS; i++) {
        looks[i] = core_width();
    }
    for (long long taken = 0; taken < plan->samples;) {
        const double burst_s = make_burst(timing, plan->burst);
        const double least = look_at_core(looks, bursts++);
        most_width = fmax(most_width, least);
        if (least < OWN_CORE * most_width && clock_now_s() < until_s) {
            continue;
        }
        taken++;
        series_add(latency, burst_s / (double)plan->burst);
        if (width != NULL) {
            series_add(width, least);
        }
    }
    return bursts;
}

/* The bursts that come first, whose time decides on the plan; the same at every moment. */
static void start_cold(const struct timing *timing, struct plan *plan)
{
    const long long cold = timing->longest < COLD_BURST ? timing->longest : COLD_BURST;
    double cold_s = 0;
    if (timing->makes) {
        cold_s = make_burst(timing, cold);
    } else {
        do_at(timing->accompany, timing, cold);
        follow(timing, 1, cold);
    }
    CHECKED(MPI_Barrier(world_communicator));
    if (!timing->again) {
        CHECKED(MPI_Allreduce(MPI_IN_PLACE, &cold_s, 1, MPI_DOUBLE, MPI_MAX, world_communicator));
        *plan = plan_latency(timing, cold_s / (double)cold);
    }
}

/* All that is timed. */
static void take_bursts(const struct timing *timing, const struct plan *plan, bool looks)
{
    struct record *record = timing->record;
    long long bursts = 0;
    if (timing->makes) {
        struct series *latency = record_series(record, "latency", "s", (int)plan->burst);
        struct series *width = looks ? record_series(record, "core_width", "1", 1) : NULL;
        bursts = sample_bursts(timing, plan, latency, width);
    }
    for (long long i = 0; !timing->makes && i < plan->samples; i++) {
        do_at(timing->accompany, timing, plan->burst);
    }
    /* The others wait here, in a barrier as an idle target does: what they wait in can be a part of
     * the latency. Intel MPI answers an access a hundred times later from inside of MPI_Allreduce.
     */
    CHECKED(MPI_Barrier(world_communicator));
    CHECKED(MPI_Allreduce(MPI_IN_PLACE, &bursts, 1, MPI_LONG_LONG, MPI_MAX, world_communicator));
    if (!timing->makes) {
        follow(timing, bursts, plan->burst);
    }
}

static void open_once(const struct launch *launch)
{
    if (!page_opened) {
        plans = allocate(launch->grid.count, sizeof plans[0]);
        page = shared_page_open(world_communicator, sizeof *page);
        page_opened = true;
    }
}

void latency_take(const struct timing *timing)
{
    const struct launch *launch = timing->launch;
    struct series *distance = NULL, *target_width = NULL;
    if (options_integer(&launch->options, "latency-burst") == 0 ||
        options_integer(&launch->options, "latency-samples") == 0) {
        return;
    }
    watchdog_phase = "latency";
    open_once(launch);
    CHECKED(MPI_Barrier(world_communicator));
    if (timing->own_cores) {
        if (timing->first && page != NULL) {
            distance = record_series(timing->record, "line_round_trip", "s", ROUND_TRIPS);
        }
        if (timing->answers) {
            target_width = record_series(timing->record, "target_core_width", "1", 1);
        }
        look_at_target(target_width);
        take_distance(timing, distance);
    }
    struct plan *plan = &plans[timing->cell->index];
    start_cold(timing, plan);
    take_bursts(timing, plan, timing->own_cores && timing->first);
    if (timing->own_cores) {
        take_distance(timing, distance);
        look_at_target(target_width);
    }
}

bool latency_was_taken(const struct cell *cell)
{
    return plans != NULL && plans[cell->index].samples > 0;
}
