/* How long a rank waited for a core: on a busy machine a time is the scheduler's, too. */
#include "harness/waits.h"

#include <stdlib.h>

#include "harness/clock.h"
#include "harness/compute.h"
#include "harness/memory.h"
#include "harness/world.h"

struct waits waits_begin(void)
{
    return (struct waits){.waited_s = -run_delay_s(), .passed_s = -clock_now_s()};
}

void waits_end(struct waits *waits)
{
    waits->passed_s += clock_now_s();
    waits->waited_s += run_delay_s();
}

/* A comparison with NAN is false. */
bool waits_are_many(const struct waits *waits)
{
    return waits->waited_s > BUSY_SHARE * waits->passed_s;
}

struct waits waits_worst(const struct waits *own, int ranks)
{
    struct waits *all = allocate((size_t)ranks, sizeof all[0]);
    struct waits worst = {0};
    world_gather(own, all, sizeof all[0]);
    for (int rank = 0; rank < ranks; rank++) {
        if (worst.passed_s == 0 ||
            all[rank].waited_s * worst.passed_s > worst.waited_s * all[rank].passed_s) {
            worst = all[rank];
        }
    }
    free(all);
    return worst;
}
