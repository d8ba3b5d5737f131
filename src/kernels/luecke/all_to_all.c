/* All-to-all: each rank gets a message of its own from every other rank.
 *
 * Source: Luecke, Spanoyannis, Kraeva, "The performance and scalability of SHMEM and MPI-2
 * one-sided routines on a SGI Origin 2000 and a Cray T3E-600" (2004), section 3.5: each rank begins
 * with its left neighbour and goes on to the left (rotated). Unrotated, all ranks begin with rank
 * 0: this shows the contention that the source warns of. Timed, in seconds: each rank's messages
 * and their completion; the slowest rank counts. Verified: every element of every message.
 * Collective rival: MPI_Alltoall. */
#include "luecke/shared/pattern.h"

#define COMPUTING 0

/* In which order a rank gets its messages. */
struct order {
    const char *name;
    bool is_rotated;
};

static const struct order orders[] = {{"rotated", true}, {"unrotated", false}};
static const struct interface interfaces[] = INTERFACES({"collective", RIVAL});

static const struct axis axes[] = {
    INTERFACE_AXIS("collective"),
    FLAVOR_OF_INTERFACE_AXIS,
    CHOICE_AXIS_ONLY_WITH("order", "each rank begins with its left neighbour, or with rank 0",
                          "rotated,unrotated", orders, WITH_ONE_SIDED),
    SIZE_AXIS,
    TARGET_STATE_AXIS,
};

static const struct option options[] = {PATTERN_OPTIONS};

/* THE TIMED PART of each rank. */
static void go(struct pattern *pattern)
{
    const struct order *order = cell_choice(pattern->cell, "order");
#ifndef ONESIDED_OPENSHMEM
    if (pattern->interface->kind == RIVAL) {
        CHECKED(MPI_Alltoall(pattern->data, pattern->elements, MPI_INT64_T, pattern->result,
                             pattern->elements, MPI_INT64_T, world_communicator));
        return;
    }
#endif
    for (int step = 1; step <= pattern->ranks; step++) {
        const int from =
            order->is_rotated ? (pattern->rank + pattern->ranks - step) % pattern->ranks : step - 1;
        if (from != pattern->rank) {
            get(pattern, block_of(pattern->result, pattern, from), from, pattern->rank);
        }
    }
    complete(pattern, EVERY_RANK);
}

static bool origin(const struct pattern *pattern, int block, struct block *origin)
{
    *origin = (struct block){.rank = block, .index = pattern->rank};
    return block != pattern->rank || pattern->interface->kind == RIVAL; /* a rival copies it, too */
}

static int block_a_rank(const struct launch *launch)
{
    return launch->ranks;
}

static int computing(const struct pattern *pattern)
{
    (void)pattern;
    return COMPUTING;
}

/* A get needs no call of its target; a fence or a collective call needs a call of the target. */
static bool needs_the_target(const struct pattern *pattern)
{
    return pattern->interface->kind == MPI2 || pattern->interface->kind == RIVAL;
}

static const struct kind kind = {.blocks = block_a_rank,
                                 .go = go,
                                 .origin = origin,
                                 .computing = computing,
                                 .meets = everybody,
                                 .is_behind = needs_the_target};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    pattern_run(launch, cell, record, &kind);
}

KERNEL("all_to_all", "time until each rank has got a message from every other rank",
       .run_cell = run_cell)
