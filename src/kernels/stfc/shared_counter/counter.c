/* The shared counter in its window: from zero to its final value. */
#include "stfc/shared_counter/counter.h"

#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"
#include "mpi/checked.h"
#include "mpi/world.h"

void counter_open(struct counter *counter, const struct launch *launch, struct record *record,
                  const struct flavor *flavor)
{
    const bool is_target = counter->rank == TARGET;
    const int elements = counter->algorithm->elements(counter->ranks);
    const size_t local = (size_t)(counter->ranks > 32 ? counter->ranks : 32);
    counter->operand = allocate(local, (size_t)counter->element_bytes);
    counter->compared = allocate(local, (size_t)counter->element_bytes);
    counter->result = allocate(local, (size_t)counter->element_bytes);
    const MPI_Aint size_bytes = (MPI_Aint)elements * counter->element_bytes;
    counter->opened = window_open(launch, flavor, is_target ? size_bytes : 0);
    counter->window = counter->opened.handle;
    counter->begin = counter->opened.begins[TARGET];
    record_window(record, counter->window, flavor->name, (long long)size_bytes);
    if (is_target) {
        window_begin_own(&counter->opened, MPI_LOCK_EXCLUSIVE);
        memset(counter->opened.memory, 0, (size_t)size_bytes);
        window_end_own(&counter->opened);
    }
    CHECKED(MPI_Barrier(world_communicator));
}

void counter_close(struct counter *counter)
{
    window_close(&counter->opened);
    free(counter->operand);
    free(counter->compared);
    free(counter->result);
}

int64_t counter_final_value(struct counter *counter)
{
    window_begin_own(&counter->opened, MPI_LOCK_EXCLUSIVE);
    const int64_t value = counter->algorithm->value(counter);
    window_end_own(&counter->opened);
    return value;
}
