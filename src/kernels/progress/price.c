/* The price of an operation, and what its cores do meanwhile that MPI cannot be told.
 */
#include "progress/price.h"

#include <math.h>
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "harness/memory.h"
#include "harness/watchdog.h"
#include "progress/payload.h"

#define ROUND_TRIPS 100
#define DISTANCE_SAMPLES 3
#define PATIENCE 10000 /* looks at a word before the core is offered to another */
#define COLD_BURST 3   /* before the price; its time decides how long a burst may be */
#define BURST_S 100e-6 /* of a price: short, for it to fall between what else the core does */
#define BURST_LEAST 10 /* but not for that alone below so many operations */
#define LOOKS 4        /* at the core, before and after a burst, that have to agree */
#define OWN_CORE 0.85  /* of the most operations at a time seen: less is another's core too */

/* By the cell's index: how its price is taken, the same at each moment. */
static struct plan {
    long long burst;   /* operations */
    long long samples; /* bursts; 0: none yet */
} *plans;

/* How long a burst may be, and how many of them: tenths of what was asked for, so that launches
 * seldom differ. */
static struct plan plan_price(const struct experiment *experiment, double one_s)
{
    const struct options *asked = &experiment->launch->options;
    const double budget_s = options_number(asked, "price-budget-s");
    struct plan plan = {options_integer(asked, "price-burst"),
                        options_integer(asked, "price-samples")};
    while (plan.burst / 10 >= BURST_LEAST && one_s * (double)plan.burst > BURST_S) {
        plan.burst /= 10;
    }
    while (plan.burst > 1 && one_s * (double)(plan.burst * plan.samples) > budget_s) {
        plan.burst = plan.burst < 10 ? 1 : plan.burst / 10;
    }
    while (plan.samples > 1 && one_s * (double)(plan.burst * plan.samples) > budget_s) {
        plan.samples--;
    }
    return plan;
}

/* Look at a word until it holds a value; a rank without a core of its own lets the other have it.
 */
static void await_value(const _Atomic uint64_t *word, uint64_t value)
{
    for (long looks = 1; atomic_load(word) != value; looks++) {
        if (looks % PATIENCE == 0) {
            sched_yield();
        }
    }
}

/* How far apart the cores of target and first origin are just now: round trips of a cache line
 * between them, with no MPI. On a virtual machine that changes under a running program, and with
 * it the price of all that passes from core to core. `series` is NULL at all other ranks. */
static void take_distance(struct experiment *experiment, struct series *series)
{
    struct page *page = experiment->page;
    for (int sample = 0; sample < DISTANCE_SAMPLES; sample++) {
        const double begin_s = clock_now_s();
        for (int trip = 0; trip < ROUND_TRIPS; trip++) {
            const uint64_t number = ++experiment->trips;
            if (series != NULL) {
                atomic_store(&page->asked, number);
                await_value(&page->answered, number);
            } else if (experiment->is_target) {
                await_value(&page->asked, number);
                atomic_store(&page->answered, number);
            }
        }
        if (series != NULL) {
            series_add(series, (clock_now_s() - begin_s) / ROUND_TRIPS);
        }
    }
}

/* How many operations an origin's core does at a time, the least of the latest looks. For tests,
 * four looks of eight find a tenth of it. */
static double look_at_core(const struct experiment *experiment, double looks[LOOKS],
                           long long number)
{
    const bool shared = launch_injects(experiment->launch, experiment->cell, INJECT_SHARED);
    double least = looks[number % LOOKS] = core_width() * (shared && number % 8 < 4 ? 0.1 : 1.0);
    for (int i = 0; i < LOOKS; i++) {
        least = fmin(least, looks[i]);
    }
    return least;
}

/* How many operations the target's core does at a time, before a price and after it; within, the
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

/* An origin's bursts, until so many are sampled. Returns how many it made.
 *
 * Between them it looks how many operations its core does at a time. On a core that another uses
 * too, which no program can be told, the burst is made anew while there is patience; what is kept
 * is chosen by the core alone, never by the time. Several looks in a row have to agree, for the
 * other may itself wait for some microseconds. */
static long long sample_bursts(struct experiment *experiment, const struct plan *plan,
                               double patience_s, struct series *price, struct series *width)
{
    static double most; /* of what `look_at_core` returned in this launch */
    const double until_s = clock_now_s() + patience_s;
    double looks[LOOKS];
    long long bursts = 0;
    for (int i = 0; i < LOOKS; i++) {
        looks[i] = core_width();
    }
    for (long long taken = 0; taken < plan->samples;) {
        const double burst_s = run_burst(experiment, plan->burst);
        const double least = look_at_core(experiment, looks, bursts++);
        most = fmax(most, least);
        if (least < OWN_CORE * most && clock_now_s() < until_s) {
            continue;
        }
        taken++;
        series_add(price, burst_s / (double)plan->burst);
        if (width != NULL) {
            series_add(width, least);
        }
    }
    return bursts;
}

/* The origins make bursts, all at once, while all others wait: nobody computes. */
void price_take(struct experiment *experiment)
{
    const MPI_Comm communicator = experiment->launch->communicator;
    const struct options *asked = &experiment->launch->options;
    const enum epoch epoch = experiment->synchronisation->epoch;
    long long bursts = 0;
    double slowest_s = 0;
    struct series *price = NULL, *distance = NULL, *width = NULL, *target_width = NULL;
    /* beside a helper the ranks have no core of their own, and neither would say anything */
    const bool apart = experiment->target_state->helper == NULL;
    /* others would have to make each burst anew with the origin */
    const bool alone = experiment->origins == 1 && epoch == PASSIVE;
    if (options_integer(asked, "price-burst") == 0 ||
        options_integer(asked, "price-samples") == 0) {
        return;
    }
    if (plans == NULL) {
        plans = allocate(experiment->launch->grid.count, sizeof *plans);
    }
    struct plan *plan = &plans[experiment->cell->index];
    watchdog_phase = "price";
    payload_prepare(experiment);
    CHECKED(MPI_Barrier(communicator));
    if (apart) {
        if (experiment->is_origin && experiment->place == 1) {
            distance = record_series(experiment->record, "line_round_trip", "s", ROUND_TRIPS);
        }
        if (experiment->is_target) {
            target_width = record_series(experiment->record, "target_core_width", "1", 1);
        }
        look_at_target(target_width);
        take_distance(experiment, distance);
    }
    const double cold_s = run_burst(experiment, COLD_BURST);
    if (!experiment->again) {
        CHECKED(MPI_Allreduce(&cold_s, &slowest_s, 1, MPI_DOUBLE, MPI_MAX, communicator));
        *plan = plan_price(experiment, slowest_s / COLD_BURST);
    }
    if (experiment->is_origin) {
        const double patience_s = options_number(asked, "price-patience-s");
        price = record_series(experiment->record, "price", "s", (int)plan->burst);
        if (distance != NULL) {
            width = record_series(experiment->record, "core_width", "1", 1);
        }
        bursts = sample_bursts(experiment, plan, apart && alone ? patience_s : 0, price, width);
    } else {
        for (long long i = 0; i < plan->samples; i++) {
            run_burst(experiment, plan->burst);
        }
    }
    CHECKED(MPI_Allreduce(MPI_IN_PLACE, &bursts, 1, MPI_LONG_LONG, MPI_MAX, communicator));
    if (apart) {
        take_distance(experiment, distance);
        look_at_target(target_width);
    }
    payload_check(experiment, COLD_BURST + plan->burst * bursts);
}

bool price_was_taken(const struct cell *cell)
{
    return plans != NULL && plans[cell->index].samples > 0;
}

void price_end(void)
{
    free(plans);
}
