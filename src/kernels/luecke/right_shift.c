/* Circular right shift: each rank gets a message from its left neighbour, all at once.
 *
 * Source: Luecke, Spanoyannis, Kraeva, "The performance and scalability of SHMEM and MPI-2
 * one-sided routines on a SGI Origin 2000 and a Cray T3E-600" (2004), section 3.2. Timed, in
 * seconds: each rank's message and its completion; the slowest rank counts. Verified: every element
 * of every message. Two-sided rival: MPI_Sendrecv. */
#include "luecke/shared/pattern.h"

#define COMPUTING 0

static const struct interface interfaces[] = INTERFACES({"two_sided", RIVAL});

static const struct axis axes[] = {
    INTERFACE_AXIS("two_sided"),
    FLAVOR_OF_INTERFACE_AXIS,
    SIZE_AXIS,
    TARGET_STATE_AXIS,
};

static const struct option options[] = {PATTERN_OPTIONS};

static int left_of(const struct pattern *pattern)
{
    return (pattern->rank + pattern->ranks - 1) % pattern->ranks;
}

#ifndef ONESIDED_OPENSHMEM
static void go_two_sided(struct pattern *pattern)
{
    const int right = (pattern->rank + 1) % pattern->ranks;
    CHECKED(MPI_Sendrecv(pattern->data, pattern->elements, MPI_INT64_T, right, 0, pattern->result,
                         pattern->elements, MPI_INT64_T, left_of(pattern), 0, world_communicator,
                         MPI_STATUS_IGNORE));
}
#endif

/* THE TIMED PART of each rank. */
static void go(struct pattern *pattern)
{
#ifndef ONESIDED_OPENSHMEM
    if (pattern->interface->kind == RIVAL) {
        go_two_sided(pattern);
        return;
    }
#endif
    get(pattern, pattern->result, left_of(pattern), 0);
    complete(pattern, left_of(pattern));
}

static bool origin(const struct pattern *pattern, int block, struct block *origin)
{
    *origin = (struct block){.rank = left_of(pattern), .index = block};
    return true;
}

static int computing(const struct pattern *pattern)
{
    (void)pattern;
    return COMPUTING;
}

/* True at the right neighbour of the rank that computes. */
static bool gets_from_it(const struct pattern *pattern)
{
    return left_of(pattern) == COMPUTING;
}

/* A get needs no call of its target; a fence or a receive needs a call of the target. */
static bool needs_the_target(const struct pattern *pattern)
{
    return pattern->interface->kind == MPI2 || pattern->interface->kind == RIVAL;
}

static const struct kind kind = {.go = go,
                                 .origin = origin,
                                 .computing = computing,
                                 .meets = gets_from_it,
                                 .is_behind = needs_the_target};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    pattern_run(launch, cell, record, &kind);
}

KERNEL("right_shift", "time of a message from each rank's left neighbour, all at once",
       .run_cell = run_cell)
