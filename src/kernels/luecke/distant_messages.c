/* Distant messages: rank 0 gets a message from one other rank. Is a distant rank slower than a near
 * one?
 *
 * Source: Luecke, Spanoyannis, Kraeva, "The performance and scalability of SHMEM and MPI-2
 * one-sided routines on a SGI Origin 2000 and a Cray T3E-600" (2004), section 3.1. Timed, in
 * seconds: the message and its completion at rank 0; with MPI-2 the fence of all ranks, too.
 * Verified: every element of every message. Two-sided rival: a send to rank 0, as this is how MPI-1
 * has it. */
#include "luecke/shared/pattern.h"

#define RECEIVER 0

static const struct interface interfaces[] = INTERFACES("two_sided");

static const struct axis axes[] = {
    INTERFACE_AXIS("two_sided"),
    FLAVOR_OF_INTERFACE_AXIS,
    {.name = "target",
     .help = "the rank that rank 0 gets from",
     .kind = AXIS_INTEGER,
     .fallback = "1",
     .minimum = 1,
     .maximum = 1 << 20},
    SIZE_AXIS,
    TARGET_STATE_AXIS,
};

static const struct option options[] = {PATTERN_OPTIONS};

static int target_of(const struct pattern *pattern)
{
    return (int)cell_number(pattern->cell, "target");
}

#ifndef ONESIDED_OPENSHMEM
static void go_two_sided(struct pattern *pattern, int target)
{
    if (pattern->rank == RECEIVER) {
        CHECKED(MPI_Recv(pattern->result, pattern->elements, MPI_INT64_T, target, 0,
                         world_communicator, MPI_STATUS_IGNORE));
    } else if (pattern->rank == target) {
        CHECKED(MPI_Send(pattern->data, pattern->elements, MPI_INT64_T, RECEIVER, 0,
                         world_communicator));
    }
}
#endif

/* THE TIMED PART of each rank. */
static void go(struct pattern *pattern)
{
    const int target = target_of(pattern);
#ifndef ONESIDED_OPENSHMEM
    if (pattern->interface->kind == RIVAL) {
        go_two_sided(pattern, target);
        return;
    }
#endif
    if (pattern->rank == RECEIVER) {
        get(pattern, pattern->result, target, 0);
    }
    if (pattern->rank == RECEIVER || pattern->interface->kind == MPI2) {
        complete(pattern);
    }
}

static bool origin(const struct pattern *pattern, int block, struct block *origin)
{
    *origin = (struct block){.rank = target_of(pattern), .index = block};
    return pattern->rank == RECEIVER;
}

static bool receives(const struct pattern *pattern)
{
    return pattern->rank == RECEIVER;
}

/* A get needs no call of its target; a fence or a receive needs one. */
static bool needs_the_target(const struct pattern *pattern)
{
    return pattern->interface->kind == MPI2 || pattern->interface->kind == RIVAL;
}

static const struct kind kind = {.go = go,
                                 .origin = origin,
                                 .computing = target_of,
                                 .meets = receives,
                                 .is_behind = needs_the_target};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    pattern_run(launch, cell, record, &kind);
}

KERNEL("distant_messages", "time of a message that rank 0 gets from another rank",
       .run_cell = run_cell)
