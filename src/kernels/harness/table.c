/* A table for a person: what is the same in those of all kernels. */
#include "harness/table.h"

#include <stdio.h>
#include <string.h>

#include "harness/world.h"

/* Of the rows so far. */
static struct {
    int rows;
    int marked;
    int oversubscribed; /* of those with a mark */
    struct waits worst; /* of one time */
} seen;

void table_print_launch(const struct launch *launch)
{
    const struct world_library library = world_library();
    printf("%.*s; %d ranks, ", (int)strcspn(library.version, "\n,"), library.version,
           launch->ranks);
    host_print_cores(&launch->host);
    printf(", thread level %s\n", thread_level_name(launch->thread_provided));
}

bool table_print_status(const struct record *record)
{
    if (record->status != CELL_OK) {
        printf("%s: %s\n", status_name(record->status), record->detail);
    }
    return record->status != CELL_OK;
}

char table_mark(const struct waits *waits)
{
    return waits_are_many(waits) ? '*' : ' ';
}

static void note_worst(const struct waits *waits)
{
    if (waits_are_many(waits) &&
        (seen.worst.passed_s == 0 ||
         waits->waited_s * seen.worst.passed_s > seen.worst.waited_s * waits->passed_s)) {
        seen.worst = *waits;
    }
}

void table_note_waits(const struct record *record, bool oversubscribed)
{
    const bool marked = waits_are_many(&record->waits) || waits_are_many(&record->latency_waits);
    seen.rows++;
    seen.marked += marked;
    seen.oversubscribed += marked && oversubscribed;
    note_worst(&record->waits);
    note_worst(&record->latency_waits);
}

void table_print_foot(void)
{
    const bool crowded = seen.oversubscribed == seen.marked;
    if (seen.marked == 0) {
        return;
    }
    printf("\n* %s: a rank waited for a core for more than %.0f%% of such a time, at most %.3f s "
           "of %.3f s;\n  the time is the scheduler's as much as the library's (%d of %d rows)\n",
           crowded ? "there are more threads than cores" : "the machine was busy", 100 * BUSY_SHARE,
           seen.worst.waited_s, seen.worst.passed_s, seen.marked, seen.rows);
    if (!crowded && seen.oversubscribed > 0) {
        printf("  rows of them with more threads than there are cores: %d\n", seen.oversubscribed);
    }
    fflush(stdout);
}
