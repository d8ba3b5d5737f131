/* May a process read the memory of another process on its host? */
#include "harness/neighbour.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness/clock.h"
#include "harness/memory.h"
#include "harness/world.h"

/* In this namespace the pid may belong to another process, so the value must be there, too. */
static bool can_read(pid_t process, uintptr_t address, uint64_t value)
{
    uint64_t found = ~value;
    struct iovec local = {&found, sizeof found};
    struct iovec remote = {(void *)address, sizeof found}; /* an address in that process */
    return process_vm_readv(process, &local, 1, &remote, 1, 0) == (ssize_t)sizeof found &&
           found == value;
}

int neighbour_may_read(const struct host_facts *facts)
{
    const volatile uint64_t value = (uint64_t)(1e9 * clock_now_s()) ^ 0x9E3779B97F4A7C15u;
    uint64_t published[2] = {(uint64_t)(uintptr_t)&value, value};
    int own = 0;
    if (facts->ranks < 2 || !host_is_one(facts)) {
        return -1;
    }
    world_broadcast(published, sizeof published);
    if (facts->own_rank == 1) {
        own = can_read(facts->processes[0].pid, (uintptr_t)published[0], published[1]);
    }
    int *all = allocate((size_t)facts->ranks, sizeof all[0]);
    world_gather(&own, all, sizeof own);
    const int readable = all[1];
    free(all);
    return readable;
}
