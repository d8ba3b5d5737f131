/* Wrong data, for tests. */
#include "machine/limits/limits.h"

bool injects_now(struct experiment *experiment)
{
    const bool now = !experiment->injected && experiment->launch->rank == ORIGIN &&
                     launch_injects(experiment->launch, experiment->cell, INJECT_WRONG_DATA);
    experiment->injected |= now;
    return now;
}
