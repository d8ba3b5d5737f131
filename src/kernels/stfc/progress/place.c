/* The ranks' places, counted from the target, and an origin's accesses. */
#include <string.h>

#include "stfc/progress/experiment.h"

static bool target_is_last(const struct launch *launch)
{
    return strcmp(options_text(&launch->options, "target"), "last") == 0;
}

int rank_at(const struct launch *launch, int place)
{
    return target_is_last(launch) ? launch->ranks - 1 - place : place;
}

struct access make_accesses(struct experiment *experiment, long long count, bool apart)
{
    struct access access = experiment->operation->access(&experiment->transfer, count, apart);
    access.completed_s = access.completed_s;
    return access;
}
