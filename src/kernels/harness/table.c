/* A table for a person: what is the same in those of all kernels. */
#include "harness/table.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "harness/watchdog.h"

void table_print_launch(const struct launch *launch)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0;
    CHECKED(MPI_Get_library_version(library, &length));
    library[strcspn(library, "\n,")] = '\0';
    printf("%s; %d ranks, %d cores, thread level %s\n", library, launch->ranks,
           host_cores(&launch->host), thread_level_name(launch->thread_provided));
}

bool table_print_status(const struct record *record)
{
    if (record->status != CELL_OK) {
        printf("%s: %s\n", status_name(record->status), record->detail);
    }
    return record->status != CELL_OK;
}
