/* The table for a person: a row per cell, what this one launch saw. */
#include "stfc/progress/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/numbers.h"
#include "harness/table.h"
#include "mpi/checked.h"
#include "mpi/world.h"
#include "stfc/progress/experiment.h"

/* What is counted: see docs/methods.md. */
#define MINIMUM_REMAINING_S 1e-3
#define LEAST_VISITS 10 /* of a target, to be a clock */
#define EARLY_SHARE 0.5
#define MINIMUM_VALID 5
#define INDEPENDENT_FRACTION 0.9
#define WAITING_FRACTION 0.1
#define SLOWEST_SHARE 0.95
#define OUT_OF_PROPORTION 10.0

/* What one row says, of the samples that count. */
struct summary {
    double samples; /* that met a computing target with enough left; all where nobody computes */
    double early;   /* fraction of them */
    double elapsed_s, begin_s, issue_s, complete_s; /* medians */
    double latency_s;
    double released; /* share of the samples whose target opened its epoch only with the origin */
    double tail;     /* the slowest bursts of the latency over what an access can take */
};

static const struct series *series_named(const struct record *record, const char *metric)
{
    for (size_t i = 0; i < record->series_count; i++) {
        if (strcmp(record->series[i].metric, metric) == 0) {
            return &record->series[i];
        }
    }
    return NULL;
}

/* The median of the samples that count (`counts` NULL: all); NAN if there are none. */
static double median_that_counts(const struct series *series, const bool *counts)
{
    double kept[SERIES_SAMPLES_MAX];
    size_t count = 0;
    for (size_t i = 0; series != NULL && i < series->count; i++) {
        if (counts == NULL || counts[i]) {
            kept[count++] = series->samples[i];
        }
    }
    return median_of(kept, count);
}

/* The share of a flag's samples that are set; 0 without any. */
static double share_of(const struct series *flag)
{
    double set = 0;
    for (size_t i = 0; flag != NULL && i < flag->count; i++) {
        set += flag->samples[i] / (double)flag->count;
    }
    return set;
}

/* The slowest twentieth of the bursts, but of several never the slowest alone, over the lesser of
 * their median and the quickest access. The analysis does alike. NAN without bursts. */
static double tail_of(const struct series *latency, const struct series *elapsed)
{
    double bursts[SERIES_SAMPLES_MAX];
    const size_t count = latency == NULL ? 0 : latency->count;
    if (count == 0) {
        return NAN;
    }
    memcpy(bursts, latency->samples, count * sizeof bursts[0]);
    sort_numbers(bursts, count);
    const size_t rank = (size_t)ceil(SLOWEST_SHARE * (double)count);
    double least_s = median_that_counts(latency, NULL);
    for (size_t i = 0; i < elapsed->count; i++) {
        least_s = fmin(least_s, elapsed->samples[i]);
    }
    return bursts[rank < count || count == 1 ? rank - 1 : count - 2] / least_s;
}

static double sample_of(const struct record *record, const char *series, size_t i)
{
    return series_named(record, series)->samples[i];
}

struct judged {
    bool counts;
    bool early;
};

/* By the wall's clock; where the target visits MPI and a rank lost its core, by the visits. Those
 * that an origin without a core counted are an upper bound: it may show an access early, not late.
 * The analysis judges alike. */
static struct judged judge(const struct record *record, size_t i)
{
    const double compute_s = sample_of(record, "compute", i);
    const double limit_s = LOST_CORE_SHARE * compute_s;
    double elapsed_s = sample_of(record, "elapsed", i);
    double remaining_s = sample_of(record, "remaining", i);
    bool origin_lost = false;
    if (series_named(record, "visits") != NULL) {
        const double target_delay_s = sample_of(record, "compute_run_delay", i);
        origin_lost = sample_of(record, "access_run_delay", i) > limit_s;
        if (origin_lost || target_delay_s > limit_s) {
            /* a delay that nobody tells is NAN, which fmin passes over */
            const double visits = sample_of(record, "visits_remaining", i);
            remaining_s =
                visits < LEAST_VISITS ? 0.0 : fmin(remaining_s, compute_s - target_delay_s);
            elapsed_s = remaining_s * (sample_of(record, "visits", i) + 1) / (visits + 1);
        }
    }
    const bool early = elapsed_s < EARLY_SHARE * remaining_s;
    return (struct judged){.counts = sample_of(record, "valid", i) != 0.0 &&
                                     remaining_s >= MINIMUM_REMAINING_S && (!origin_lost || early),
                           .early = early};
}

static struct summary summarise(const struct record *record, bool leaves)
{
    const struct series *elapsed = series_named(record, "elapsed");
    bool counts[SERIES_SAMPLES_MAX] = {false};
    struct summary summary = {0};
    for (size_t i = 0; i < elapsed->count; i++) {
        const struct judged judged = judge(record, i);
        counts[i] = !leaves || judged.counts;
        summary.samples += counts[i];
        summary.early += counts[i] && judged.early;
    }
    summary.early /= summary.samples;
    summary.elapsed_s = median_that_counts(elapsed, counts);
    summary.begin_s = median_that_counts(series_named(record, "begin"), counts);
    summary.issue_s = median_that_counts(series_named(record, "issue"), counts);
    summary.complete_s = median_that_counts(series_named(record, "complete"), counts);
    summary.released = share_of(series_named(record, "released"));
    summary.latency_s = median_that_counts(series_named(record, "latency"), NULL);
    summary.tail = tail_of(series_named(record, "latency"), elapsed);
    return summary;
}

static const char *word_for(const struct cell *cell, const struct summary *summary)
{
    const struct synchronisation *synchronisation = cell_choice(cell, "synchronisation");
    const struct target_state *target_state = cell_choice(cell, "target_state");
    const struct operation *operation = cell_choice(cell, "operation");
    if (!target_state->leaves) {
        return "target idle";
    }
    if (synchronisation->kind == COLLECTIVE_ACTIVE) {
        return "synchronising";
    }
    if (summary->samples < MINIMUM_VALID) {
        return "too few";
    }
    if (summary->released >= INDEPENDENT_FRACTION) {
        return "post synchronises";
    }
    if (synchronisation->completes_locally && !operation->fetches) {
        return "local completion";
    }
    return summary->early >= INDEPENDENT_FRACTION ? "independent"
           : summary->early <= WAITING_FRACTION   ? "waits"
                                                  : "mixed";
}

static const char *where_it_was(const struct summary *summary)
{
    if (summary->begin_s > summary->issue_s && summary->begin_s > summary->complete_s) {
        return "begin";
    }
    return summary->issue_s > summary->complete_s ? "issue" : "complete";
}

void table_print_head(const struct launch *launch)
{
    table_print_launch(launch);
    printf("early: share of the accesses that were over before half of the target's remaining "
           "time\ntime: median of an access; spent in: its longest part; latency: "
           "uncontended, while nobody computes\ntail, where it is %.0f times or more: the slowest "
           "bursts of a latency over what an access can take\n\n",
           OUT_OF_PROPORTION);
    printf("%-16s %-8s %-20s %-16s %9s %5s %10s %-8s %10s  %s\n", "operation", "flavor",
           "synchronisation", "target", "bytes", "early", "time/us", "spent in", "latency/us", "");
    fflush(stdout);
}

static void print_axes(const struct cell *cell)
{
    printf("%-16s %-8s %-20s %-16s %9.0f ", cell_choice_name(cell, "operation"),
           cell_choice_name(cell, "flavor"), cell_choice_name(cell, "synchronisation"),
           cell_choice_name(cell, "target_state"), cell_number(cell, "size_bytes"));
}

static void print_summary(const struct cell *cell, const struct record *record,
                          const struct summary *summary)
{
    const struct target_state *target_state = cell_choice(cell, "target_state");
    char early[16] = "-";
    if (target_state->leaves && summary->samples > 0) {
        snprintf(early, sizeof early, "%.0f%%", 100.0 * summary->early);
    }
    print_axes(cell);
    printf("%5s %10.2f%c%-8s %10.2f%c %s", early, 1e6 * summary->elapsed_s,
           table_mark(&record->waits), where_it_was(summary), 1e6 * summary->latency_s,
           table_mark(&record->latency_waits), word_for(cell, summary));
    if (summary->tail >= OUT_OF_PROPORTION) {
        printf(", tail %.0f times", summary->tail);
    }
}

/* A row for each origin; with several, its rank behind it. */
void table_print_row(const struct launch *launch, const struct cell *cell,
                     const struct record *record)
{
    const struct target_state *target_state = cell_choice(cell, "target_state");
    const int origins = (int)options_integer(&launch->options, "origins");
    if (record->status != CELL_OK && launch->rank == 0) {
        print_axes(cell);
        table_print_status(record);
    }
    for (int place = 1; record->status == CELL_OK && place <= origins; place++) {
        const int origin = rank_at(launch, place);
        struct summary summary = {0};
        if (launch->rank == origin) {
            summary = summarise(record, target_state->leaves);
        }
        CHECKED(MPI_Bcast(&summary, sizeof summary / sizeof(double), MPI_DOUBLE, origin,
                          world_communicator));
        if (launch->rank == 0) {
            print_summary(cell, record, &summary);
            if (origins > 1) {
                printf(", rank %d", origin);
            }
            printf("\n");
        }
    }
    fflush(stdout);
}
