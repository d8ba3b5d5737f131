/* Distant messages: rank 0 gets a message from one other rank. Is a distant rank slower than a near
 * one?
 *
 * Source: Luecke, Spanoyannis, Kraeva, "The performance and scalability of SHMEM and MPI-2
 * one-sided routines on a SGI Origin 2000 and a Cray T3E-600" (2004), section 3.1. Timed, in
 * seconds: the message and its completion at rank 0; with MPI-2 also the fence of all ranks.
 * Verified: every element of every message. Two-sided rival: a send to rank 0. */
#include "luecke/shared/pattern.h"

#define ORIGIN 0

static const struct interface interfaces[] = INTERFACES({"two_sided", RIVAL});

static const struct axis axes[] = {
    INTERFACE_AXIS("two_sided"),
    FLAVOR_OF_INTERFACE_AXIS,
    INTEGER_AXIS("target", "the rank that rank 0 gets from", "1", 1, 1 << 20),
    SIZE_AXIS,
    TARGET_STATE_AXIS,
};

static const struct option options[] = {
    PATTERN_OPTIONS,
    INTEGER_OPTION("messages", "N",
                   "messages of a trial, each complete before the next; the time is that of one",
                   "1", 1, 10000),
    {.name = "by",
     .argument = "get|put",
     .help = "rank 0 gets the messages, as in the source, or puts them",
     .kind = OPTION_CHOICE,
     .fallback = "get"},
};

static int target_of(const struct pattern *pattern)
{
    return (int)cell_number(pattern->cell, "target");
}

static int messages(const struct launch *launch)
{
    return (int)options_integer(&launch->options, "messages");
}

/* ---- THE TIMED PART of each rank ---- */

/* With MPI-2 all ranks take part in each fence, and the last fence completes the last message. */
static void go_one_sided(struct pattern *pattern, bool puts)
{
    const bool is_origin = pattern->rank == ORIGIN, fences = pattern->interface->kind == MPI2;
    const int target = target_of(pattern);
    for (int i = 0; i < pattern->blocks; i++) {
        if (is_origin && puts) {
            put(pattern, block_of(pattern->data, pattern, i), target, i);
        } else if (is_origin) {
            get(pattern, block_of(pattern->result, pattern, i), target, i);
        }
        if (fences && i + 1 < pattern->blocks) {
            fence(pattern);
        } else if (is_origin || fences) {
            (puts ? complete_put : complete)(pattern, target);
        }
    }
}

#ifndef ONESIDED_OPENSHMEM
/* The message goes in the same direction as the get (to rank 0) or the put (from rank 0). */
static void go_two_sided(struct pattern *pattern, bool puts)
{
    const int target = target_of(pattern), receiver = puts ? target : ORIGIN;
    const int sender = puts ? ORIGIN : target;
    for (int i = 0; i < pattern->blocks; i++) {
        if (pattern->rank == receiver) {
            CHECKED(MPI_Recv(block_of(pattern->result, pattern, i), pattern->elements, MPI_INT64_T,
                             sender, 0, world_communicator, MPI_STATUS_IGNORE));
        } else if (pattern->rank == sender) {
            CHECKED(MPI_Send(block_of(pattern->data, pattern, i), pattern->elements, MPI_INT64_T,
                             receiver, 0, world_communicator));
        }
    }
}
#endif

static void go(struct pattern *pattern)
{
    const bool puts = pattern->kind->in_place;
#ifndef ONESIDED_OPENSHMEM
    if (pattern->interface->kind == RIVAL) {
        go_two_sided(pattern, puts);
        return;
    }
#endif
    go_one_sided(pattern, puts);
}

/* ---- The expected data, and who waits ---- */

static bool origin_of_get(const struct pattern *pattern, int block, struct block *origin)
{
    *origin = (struct block){.rank = target_of(pattern), .index = block};
    return pattern->rank == ORIGIN;
}

static bool origin_of_put(const struct pattern *pattern, int block, struct block *origin)
{
    *origin = (struct block){.rank = ORIGIN, .index = block};
    return pattern->rank == target_of(pattern);
}

static bool is_origin(const struct pattern *pattern)
{
    return pattern->rank == ORIGIN;
}

/* A get or a put needs no call of its target; a fence or a message needs a call of the target. */
static bool needs_the_target(const struct pattern *pattern)
{
    return pattern->interface->kind == MPI2 || pattern->interface->kind == RIVAL;
}

#define DISTANT_MESSAGES                                                                           \
    .blocks = messages, .is_of_a_block = true, .go = go, .computing = target_of,                   \
    .meets = is_origin, .is_behind = needs_the_target

static const struct kind by_get = {DISTANT_MESSAGES, .origin = origin_of_get};
static const struct kind by_put = {DISTANT_MESSAGES, .origin = origin_of_put, .in_place = true};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const bool puts = options_text(&launch->options, "by")[0] == 'p';
    pattern_run(launch, cell, record, puts ? &by_put : &by_get);
}

KERNEL("distant_messages", "time of a message that rank 0 gets from another rank",
       .run_cell = run_cell)
