/* What the ranks found in a cell, joined: its status, its checks, its series. */
#include "harness/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"
#include "harness/world.h"

/* What one rank has verified; a name that is empty ends the list. */
struct checks {
    struct verification of[VERIFICATIONS_MAX + 1];
};

/* The sum with this name; a new sum if there is none yet. */
static struct verification *sum_named(struct record *record, const char *name)
{
    for (size_t i = 0; i < record->verification_count; i++) {
        if (strcmp(record->verifications[i].name, name) == 0) {
            return &record->verifications[i];
        }
    }
    struct verification sum = {.checked = 0};
    memcpy(sum.name, name, sizeof sum.name);
    record_verification(record, sum);
    return &record->verifications[record->verification_count - 1];
}

/* The first error is the error of the lowest rank with an error. */
static void add_check(struct record *record, const struct verification *check, int rank)
{
    struct verification *sum = sum_named(record, check->name);
    if (sum->errors == 0 && check->errors > 0) {
        snprintf(sum->first_mismatch, sizeof sum->first_mismatch, "rank %d: %.*s", rank,
                 FIRST_MISMATCH_BYTES - 20, check->first_mismatch);
    }
    sum->checked += check->checked;
    sum->errors += check->errors;
}

void join_verifications(const struct launch *launch, struct record *record)
{
    struct checks own = {0};
    struct checks *all = allocate((size_t)launch->ranks, sizeof all[0]);
    memcpy(own.of, record->verifications, record->verification_count * sizeof own.of[0]);
    world_gather(&own, all, sizeof own);
    record->verification_count = 0;
    for (int rank = 0; rank < launch->ranks; rank++) {
        for (const struct verification *check = all[rank].of; check->name[0] != '\0'; check++) {
            add_check(record, check, rank);
        }
    }
    free(all);
    for (size_t i = 0; i < record->verification_count; i++) {
        const struct verification *sum = &record->verifications[i];
        if (sum->errors > 0) {
            record_status(record, CELL_WRONG_DATA, "%s: %lld of %lld wrong, first: %s", sum->name,
                          sum->errors, sum->checked, sum->first_mismatch);
        }
    }
}

void join_status(const struct launch *launch, struct record *record)
{
    struct found {
        enum cell_status status;
        char detail[DETAIL_BYTES];
    } own = {.status = record->status};
    struct found *all = allocate((size_t)launch->ranks, sizeof all[0]);
    memcpy(own.detail, record->detail, sizeof own.detail);
    world_gather(&own, all, sizeof own);
    int worst = 0;
    for (int rank = 1; rank < launch->ranks; rank++) {
        worst = all[rank].status > all[worst].status ? rank : worst;
    }
    record->status = all[worst].status;
    memcpy(record->detail, all[worst].detail, sizeof record->detail);
    free(all);
}

void join_series(const struct launch *launch, const struct record *record, struct json *all)
{
    struct json own = {0};
    record_write_series(&own, record, launch->rank);
    size_t *lengths = allocate((size_t)launch->ranks, sizeof lengths[0]);
    size_t total = 0;
    world_gather(&own.length, lengths, sizeof lengths[0]);
    for (int rank = 0; rank < launch->ranks; rank++) {
        total += lengths[rank];
    }
    char *texts = allocate(total + 1, 1);
    world_gather_texts(own.bytes, texts, lengths);
    for (size_t begin = 0, rank = 0; launch->rank == 0 && rank < (size_t)launch->ranks; rank++) {
        json_raw(all, texts + begin, lengths[rank]);
        begin += lengths[rank];
    }
    free(texts);
    free(lengths);
    json_free(&own);
}
