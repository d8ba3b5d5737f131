/* The trials of a pattern: prepared, timed, verified; one description for all interfaces. */
#include "luecke/shared/pattern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cache.h"
#include "harness/meeting.h"
#include "harness/memory.h"
#include "harness/share.h"
#include "harness/watchdog.h"
#include "harness/world.h"
#include "slots/messages.h"

const struct target_state target_states[] = {{"takes_part", false}, {"computes", true}};

bool nobody(const struct pattern *pattern)
{
    (void)pattern;
    return false;
}

bool everybody(const struct pattern *pattern)
{
    (void)pattern;
    return true;
}

/* ---- Payloads ---- */

/* The number of a block among the blocks of all ranks and trials. */
static uint64_t number_of(const struct pattern *pattern, struct block block, uint64_t trial)
{
    const uint64_t rank = trial * (uint64_t)pattern->ranks + (uint64_t)block.rank;
    return rank * (uint64_t)pattern->blocks + (uint64_t)block.index;
}

/* Put new values into the data, and values that no rank sends into the result. */
static void fill(struct pattern *pattern)
{
    for (int index = 0; index < pattern->blocks; index++) {
        const struct block own = {.rank = pattern->rank, .index = index};
        struct block origin;
        message_fill(block_of(pattern->data, pattern, index), pattern->elements,
                     number_of(pattern, own, pattern->trial));
        if (pattern->kind->origin(pattern, index, &origin) || !pattern->kind->in_place) {
            message_clear(block_of(pattern->result, pattern, index), pattern->elements);
        }
    }
}

static void check(struct pattern *pattern)
{
    for (int index = 0; index < pattern->blocks; index++) {
        struct block origin;
        const int64_t *result = block_of(pattern->result, pattern, index);
        if (pattern->kind->origin(pattern, index, &origin)) {
            message_check(&pattern->found, result, pattern->elements,
                          number_of(pattern, origin, pattern->trial), pattern->trial);
        }
    }
}

/* ---- Trials ---- */

static size_t bytes_to_flush(const struct launch *launch)
{
    if (options_text(&launch->options, "cache-bytes") != NULL) {
        return (size_t)options_integer(&launch->options, "cache-bytes");
    }
    const int ranks = share_ranks(&launch->host, launch->rank);
    return share_of_cache(largest_cache_bytes(), own_cache_bytes(), ranks);
}

static void prepare(struct pattern *pattern, size_t cache_bytes)
{
    watchdog_phase = "prepare";
    pattern->trial++;
    others_begin_own(pattern);
    fill(pattern);
    others_end_own(pattern);
    flush_caches(cache_bytes);
    others_begin_trial(pattern);
    world_barrier();
    watchdog_phase = "operations";
}

static void conclude(struct pattern *pattern)
{
    watchdog_phase = "wait";
    world_barrier();
    others_begin_own(pattern);
    check(pattern);
    others_end_own(pattern);
}

/* A trial takes as long as its slowest rank. */
static void keep_greatest(struct pattern *pattern, const double *own_s, long long trials)
{
    const size_t size_bytes = (size_t)trials * sizeof own_s[0];
    double *all_s = allocate((size_t)pattern->ranks, size_bytes);
    world_gather(own_s, all_s, size_bytes);
    if (pattern->rank == 0) {
        struct series *time = record_series(pattern->record, "time", "s", 1);
        for (long long trial = 0; trial < trials; trial++) {
            double slowest_s = 0;
            for (int rank = 0; rank < pattern->ranks; rank++) {
                slowest_s = fmax(slowest_s, all_s[rank * trials + trial]);
            }
            series_add(time, slowest_s);
        }
    }
    free(all_s);
}

static void time_trials(struct pattern *pattern, size_t cache_bytes)
{
    const long long trials = options_integer(&pattern->launch->options, "trials");
    const int parts = pattern->kind->is_of_a_block ? pattern->blocks : 1;
    double *own_s = allocate((size_t)trials, sizeof own_s[0]);
    for (long long trial = 0; trial < trials; trial++) {
        prepare(pattern, cache_bytes);
        const double begin_s = clock_now_s();
        pattern->kind->go(pattern);
        const double end_s = clock_now_s();
        own_s[trial] = (end_s - begin_s) / parts;
        conclude(pattern);
    }
    keep_greatest(pattern, own_s, trials);
    free(own_s);
}

/* A trial in which one rank computes before its part of the pattern. */
struct computing_trial {
    struct pattern *pattern;
    size_t cache_bytes;
    struct series *behind; /* NULL at a rank that does not meet the computing rank */
};

static void prepare_computing(void *state)
{
    const struct computing_trial *trial = state;
    prepare(trial->pattern, trial->cache_bytes);
}

static void go_computing(void *state)
{
    const struct computing_trial *trial = state;
    trial->pattern->kind->go(trial->pattern);
}

static void conclude_computing(void *state)
{
    const struct computing_trial *trial = state;
    conclude(trial->pattern);
    if (trial->behind != NULL) {
        series_add(trial->behind, trial->pattern->kind->is_behind(trial->pattern));
    }
}

static void time_computing_trials(struct pattern *pattern, size_t cache_bytes)
{
    const struct options *asked = &pattern->launch->options;
    struct computing_trial trial = {.pattern = pattern, .cache_bytes = cache_bytes};
    const struct meetings meeting = {.launch = pattern->launch,
                                     .record = pattern->record,
                                     .part = pattern->rank == pattern->kind->computing(pattern)
                                                 ? COMPUTES
                                             : pattern->kind->meets(pattern) ? ACCESSES
                                                                             : LOOKS_ON,
                                     .compute_s = 1e-3 * options_number(asked, "compute-ms"),
                                     .samples = options_integer(asked, "computing-trials"),
                                     .state = &trial,
                                     .prepare = prepare_computing,
                                     .go = go_computing,
                                     .conclude = conclude_computing};
    if (meeting.part == ACCESSES) {
        trial.behind = record_series(pattern->record, "behind", "flag", 1);
    }
    meeting_take(&meeting);
}

/* Return false, with the reason in the record, the same on all ranks, if the cell cannot run. */
static bool is_supported(const struct pattern *pattern)
{
    struct record *record = pattern->record;
    const struct target_state *state = cell_choice(pattern->cell, "target_state");
    const double size_bytes = cell_number(pattern->cell, "size_bytes");
    if (pattern->elements * (double)sizeof(int64_t) != size_bytes) {
        record_status(record, CELL_UNSUPPORTED, "size_bytes is %.0f, no multiple of 8", size_bytes);
    } else if (pattern->kind->computing(pattern) >= pattern->ranks) {
        record_status(record, CELL_UNSUPPORTED, "rank %d is asked for: found %d ranks",
                      pattern->kind->computing(pattern), pattern->ranks);
    } else if (state->computes) {
        meeting_is_supported(pattern->launch, record);
    }
    return record->status == CELL_OK;
}

void pattern_run(struct launch *launch, const struct cell *cell, struct record *record,
                 const struct kind *kind)
{
    const struct target_state *state = cell_choice(cell, "target_state");
    struct pattern pattern = {.launch = launch,
                              .cell = cell,
                              .record = record,
                              .kind = kind,
                              .interface = cell_choice(cell, "interface"),
                              .rank = launch->rank,
                              .ranks = launch->ranks,
                              .elements = (int)cell_number(cell, "size_bytes") / 8,
                              .blocks = kind->blocks == NULL ? 1 : kind->blocks(launch),
                              .found = {.name = "message"}};
    watchdog_phase = "window";
    if (!is_supported(&pattern) || !others_open(&pattern)) {
        return;
    }
    const size_t cache_bytes = bytes_to_flush(launch);
    if (kind->enter != NULL) {
        kind->enter(&pattern);
    }
    world_barrier();
    (state->computes ? time_computing_trials : time_trials)(&pattern, cache_bytes);
    if (launch->rank == 0) {
        series_add(record_series(record, "flushed_bytes", "count", 1), (double)cache_bytes);
    }
    record_verification(record, pattern.found);
    watchdog_phase = "window";
    if (kind->leave != NULL) {
        kind->leave(&pattern);
    }
    others_close(&pattern);
}
