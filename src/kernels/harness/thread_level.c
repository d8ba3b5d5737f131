/* Thread levels by the names that options and lines give them. */
#include "harness/thread_level.h"

#include <string.h>

static const char *const names[] = {"single", "funneled", "serialized", "multiple"};

const char *thread_level_name(enum thread_level level)
{
    return names[level];
}

enum thread_level thread_level_named(const char *name)
{
    enum thread_level level = THREAD_SINGLE;
    while (strcmp(names[level], name) != 0) {
        level++; /* the option's check has let no other name through */
    }
    return level;
}
