/* The uncontended latency of an operation: its time while nobody computes, in bursts of k. */
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
#define COLD_BURST 3   /* before the latency; its time decides on the bursts' length */
#define BURST_S 100e-6 /* short, to fit between the other work of the core */
#define BURST_LEAST 10 /* no burst is shortened below so many operations */
#define LOOKS 4        /* at the core, around a burst, that must agree */
#define OWN_CORE 0.85  /* of the greatest width seen; below it the core is shared */

/* The words that the two measured cores exchange outside MPI, each on a line of its own. */
struct page {
    _Atomic uint64_t unused; /* shared_page_open writes here */
    alignas(CACHE_LINE_BYTES) _Atomic uint64_t asked;
    alignas(CACHE_LINE_BYTES) _Atomic uint64_t answered;
};

/* Of a launch. */
static struct plan *plans; /* by the cell's index; no samples: none yet */
static struct page *page;  /* NULL: not opened, or the ranks share no memory */
static bool page_opened;
static uint64_t trips;    /* round trips of a cache line so far */
static double most_width; /* of what `look_at_core` returned */

/* The length and the number of bursts: tenths of what was asked for, so that launches seldom
 * differ. */
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

/* Measure how far apart the two cores are: round trips of a cache line between them, with no MPI.
 * On a virtual machine this distance changes while a program runs, and with it the latency of all
 * accesses between the cores. `series` is NULL at all other ranks. */
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

/* The width of this core: the least of the latest looks. */
static double look_at_core(double looks[LOOKS], long long number)
{
    double least = looks[number % LOOKS] = core_width();
    for (int i = 0; i < LOOKS; i++) {
        least = fmin(least, looks[i]);
    }
    return least;
}

/* Measure the width of the target's core before and after a latency; during the latency the target
 * is in MPI. As many looks come before these and do not count, because a core is slower just after
 * other work. `series` is NULL at all other ranks. */
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

/* Prepare, make and verify a burst; returns seconds. */
static double make_burst(const struct timing *timing, long long burst)
{
    do_at(timing->prepare, timing, burst);
    const double burst_s = timing->burst(timing->state, burst);
    do_at(timing->check, timing, burst);
    return burst_s;
}

/* Make bursts until plan->samples are kept. Returns how many were made.
 *
 * Between bursts the rank measures the width of its core. If another program shares the core, which
 * the system cannot tell, the burst is repeated until the patience ends. Only the core's width
 * decides which bursts are kept, never their time. Several looks in a row must agree, because the
 * other program may itself wait for some microseconds. */
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

/* The first burst of every moment; at the cell's first moment its time decides on the plan. */
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

/* The timed bursts of a moment. */
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
    /* The other ranks wait here, in a barrier as an idle target does: the call in which they wait
     * can affect the latency. Inside MPI_Allreduce, Intel MPI answers an access a hundred times
     * later. */
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
