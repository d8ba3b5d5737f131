/* What the ranks found in a cell, joined: its status, its checks, its series. */
#include "harness/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"
#include "harness/watchdog.h"

/* What one rank has verified; a name that is empty ends the list. */
struct checks {
    struct verification of[VERIFICATIONS_MAX + 1];
};

/* The sum under a name; a new one where there is none yet. */
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

/* The first error is that of the lowest rank that has one. */
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
    CHECKED(
        MPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, launch->communicator));
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
    struct {
        int status;
        int rank;
    } own = {(int)record->status, launch->rank}, worst;
    CHECKED(MPI_Allreduce(&own, &worst, 1, MPI_2INT, MPI_MAXLOC, launch->communicator));
    CHECKED(MPI_Bcast(record->detail, DETAIL_BYTES, MPI_CHAR, worst.rank, launch->communicator));
    record->status = (enum cell_status)worst.status;
}

void join_series(const struct launch *launch, const struct record *record, struct json *all)
{
    struct json own = {0};
    record_write_series(&own, record, launch->rank);
    const int length = (int)own.length;
    int *lengths = allocate((size_t)launch->ranks, sizeof lengths[0]);
    int *begins = allocate((size_t)launch->ranks + 1, sizeof begins[0]);
    CHECKED(MPI_Gather(&length, 1, MPI_INT, lengths, 1, MPI_INT, 0, launch->communicator));
    for (int rank = 0; rank < launch->ranks; rank++) {
        begins[rank + 1] = begins[rank] + lengths[rank];
    }
    char *texts = allocate((size_t)begins[launch->ranks] + 1, 1);
    CHECKED(MPI_Gatherv(own.bytes, length, MPI_CHAR, texts, lengths, begins, MPI_CHAR, 0,
                        launch->communicator));
    for (int rank = 0; rank < launch->ranks; rank++) {
        json_raw(all, texts + begins[rank], (size_t)lengths[rank]);
    }
    free(texts);
    free(begins);
    free(lengths);
    json_free(&own);
}
