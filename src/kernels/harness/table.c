/* A table for a person: what is the same in those of all kernels. */
#include "harness/table.h"

#include <stdio.h>
#include <string.h>

#include "harness/world.h"

void table_print_launch(const struct launch *launch)
{
    const struct world_library library = world_library();
    printf("%.*s; %d ranks, %d cores, thread level %s\n", (int)strcspn(library.version, "\n,"),
           library.version, launch->ranks, host_cores(&launch->host),
           thread_level_name(launch->thread_provided));
}

bool table_print_status(const struct record *record)
{
    if (record->status != CELL_OK) {
        printf("%s: %s\n", status_name(record->status), record->detail);
    }
    return record->status != CELL_OK;
}
