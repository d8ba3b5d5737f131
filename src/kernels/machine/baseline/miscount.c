/* A wrong count, for tests: a faulty library cannot change a processor's own operations. */
#include "machine/baseline/baseline.h"

bool miscounts_now(struct experiment *experiment)
{
    const struct launch *launch = experiment->launch;
    const bool now = !experiment->has_miscounted && launch->rank == ORIGIN &&
                     options_flag(&launch->options, "miscount");
    experiment->has_miscounted |= now;
    return now;
}
