/* Thread levels by the names that options and lines give them. */
#include "harness/thread_level.h"

#include <mpi.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    int level;
} thread_levels[] = {{"single", MPI_THREAD_SINGLE},
                     {"funneled", MPI_THREAD_FUNNELED},
                     {"serialized", MPI_THREAD_SERIALIZED},
                     {"multiple", MPI_THREAD_MULTIPLE}};
#define THREAD_LEVELS (sizeof thread_levels / sizeof thread_levels[0])

const char *thread_level_name(int level)
{
    for (size_t i = 0; i < THREAD_LEVELS; i++) {
        if (thread_levels[i].level == level) {
            return thread_levels[i].name;
        }
    }
    return NULL;
}

int thread_level_named(const char *name)
{
    size_t i = 0;
    while (strcmp(thread_levels[i].name, name) != 0) {
        i++; /* the option's check has let no other name through */
    }
    return thread_levels[i].level;
}
