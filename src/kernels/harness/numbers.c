/* The numbers of a shared counter, gathered from all ranks. */
#include "harness/numbers.h"

#include <stdlib.h>

#include "harness/memory.h"
#include "harness/watchdog.h"
#include "harness/world.h"

void numbers_verify(const struct launch *launch, struct record *record, const int64_t *numbers,
                    size_t count, int64_t final_value)
{
    size_t *counts = allocate((size_t)launch->ranks, sizeof counts[0]);
    int *begins = allocate((size_t)launch->ranks + 1, sizeof begins[0]);
    watchdog_phase = "verify";
    world_gather(&count, counts, sizeof counts[0]);
    for (int rank = 0; rank < launch->ranks; rank++) {
        begins[rank + 1] = begins[rank] + (int)counts[rank];
        counts[rank] *= sizeof numbers[0];
    }
    int64_t *all = allocate((size_t)begins[launch->ranks] + 1, sizeof all[0]);
    world_gather_texts((const char *)numbers, (char *)all, counts);
    if (launch->rank == 0) {
        record_verification(record, verify_sequence(all, begins, launch->ranks));
        record_verification(record,
                            verify_exact("final_value", final_value, begins[launch->ranks]));
    }
    free(all);
    free(begins);
    free(counts);
}
