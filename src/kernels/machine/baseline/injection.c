/* Wrong data, for tests. */
#include "machine/baseline/baseline.h"

bool injects_now(struct experiment *experiment)
{
    const bool now = !experiment->injected && experiment->launch->rank == ORIGIN &&
                     launch_injects(experiment->launch, experiment->cell, INJECT_WRONG_DATA);
    experiment->injected |= now;
    return now;
}

void inject_fault(struct experiment *experiment, size_t count)
{
    const enum injection fault = launch_fault(experiment->launch, experiment->cell);
    int64_t *last = &experiment->source[count - 1];
    *last = faulty_number(fault, *last, count > 1 ? last[-1] : -1) ^ injects_now(experiment);
}
