/* Naive broadcast: all other ranks get the same message from rank 0, all at once.
 *
 * Source: Luecke, Spanoyannis, Kraeva, "The performance and scalability of SHMEM and MPI-2
 * one-sided routines on a SGI Origin 2000 and a Cray T3E-600" (2004), section 3.3. Timed, in
 * seconds: each rank's message and its completion; the slowest rank counts. Verified: every element
 * of every message. Collective rival: MPI_Bcast. */
#include "luecke/shared/pattern.h"

#define ROOT 0

static const struct interface interfaces[] = INTERFACES({"collective", RIVAL});

static const struct axis axes[] = {
    INTERFACE_AXIS("collective"),
    FLAVOR_OF_INTERFACE_AXIS,
    SIZE_AXIS,
    TARGET_STATE_AXIS,
};

static const struct option options[] = {PATTERN_OPTIONS};

/* THE TIMED PART of each rank. */
static void go(struct pattern *pattern)
{
    const bool receives = pattern->rank != ROOT;
#ifndef ONESIDED_OPENSHMEM
    if (pattern->interface->kind == RIVAL) {
        CHECKED(MPI_Bcast(receives ? pattern->result : pattern->data, pattern->elements,
                          MPI_INT64_T, ROOT, world_communicator));
        return;
    }
#endif
    if (receives) {
        get(pattern, pattern->result, ROOT, 0);
    }
    if (receives || pattern->interface->kind == MPI2) {
        complete(pattern, ROOT);
    }
}

static bool origin(const struct pattern *pattern, int block, struct block *origin)
{
    *origin = (struct block){.rank = ROOT, .index = block};
    return pattern->rank != ROOT;
}

static int computing(const struct pattern *pattern)
{
    (void)pattern;
    return ROOT;
}

/* A get needs no call of its target; a fence or a broadcast needs a call of the target. */
static bool needs_the_root(const struct pattern *pattern)
{
    return pattern->interface->kind == MPI2 || pattern->interface->kind == RIVAL;
}

static const struct kind kind = {.go = go,
                                 .origin = origin,
                                 .computing = computing,
                                 .meets = everybody,
                                 .is_behind = needs_the_root};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    pattern_run(launch, cell, record, &kind);
}

KERNEL("naive_broadcast", "time until all ranks have got a message from rank 0",
       .run_cell = run_cell)
