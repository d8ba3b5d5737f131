/* Binary tree broadcast: rank 0's message goes down a binomial tree, by put or by get.
 *
 * Source: Luecke, Spanoyannis, Kraeva, "The performance and scalability of SHMEM and MPI-2
 * one-sided routines on a SGI Origin 2000 and a Cray T3E-600" (2004), section 3.4 and appendices A
 * to C. The tree is the source's: a rank's parent is the rank without its lowest bit, and a rank
 * serves the child with the largest subtree first.
 *
 * put: a rank puts the message into its child's memory and notifies the child. get: a rank notifies
 * its child that the message is there, and the child gets it. The notice is a word in the child's
 * memory with MPI-3 and OpenSHMEM, and a fence between two levels of the tree with MPI-2. The
 * source's MPI-2 versions look at window memory inside a fence epoch until the message is there.
 * The standard does not allow this: nothing completes before the next fence. pairwise_mpi.c has the
 * versions that are nearest to the source's.
 *
 * Timed, in seconds: from a barrier until a rank has the message and has passed it on; the slowest
 * rank counts. Verified: every element on every rank. Collective rival: MPI_Bcast. */
#include "luecke/tree_broadcast/tree.h"

/* Which rank moves the message. */
struct tree_operation {
    const char *name;
    bool puts;
};

static const struct tree_operation operations_of_tree[] = {{"get", false}, {"put", true}};
static const struct interface interfaces[] =
    INTERFACES({"mpi2_pairwise", MPI2_PAIRWISE}, {"collective", RIVAL});

static const struct axis axes[] = {
    INTERFACE_AXIS("mpi2_pairwise,collective"),
    FLAVOR_OF_INTERFACE_AXIS,
    CHOICE_AXIS_ONLY_WITH("operation", "a parent puts the message, or a child gets it", "get,put",
                          operations_of_tree, WITH_ONE_SIDED),
    SIZE_AXIS,
    TARGET_STATE_AXIS,
};

static const struct option options[] = {PATTERN_OPTIONS};

/* ---- THE TIMED PART of each rank ---- */

/* One level after the other: ranks that are multiples of twice the distance have the message. */
static void go_by_levels(struct pattern *pattern, bool puts)
{
    const int rank = pattern->rank, reach = reach_of(rank, pattern->ranks);
    for (int distance = reach_of(ROOT, pattern->ranks) / 2; distance > 0; distance /= 2) {
        if (puts && distance < reach && rank + distance < pattern->ranks) {
            put(pattern, pattern->data, rank + distance, 0);
        } else if (!puts && rank != ROOT && distance == reach) {
            get(pattern, pattern->data, parent_of(rank), 0);
        }
        if (distance > 1) {
            fence(pattern);
        }
    }
    complete(pattern, EVERY_RANK);
}

static void go_by_notices(struct pattern *pattern, bool puts)
{
    const int rank = pattern->rank;
    if (rank != ROOT) {
        await(pattern);
    }
    if (rank != ROOT && !puts) {
        get(pattern, pattern->data, parent_of(rank), 0);
        complete(pattern, parent_of(rank));
    }
    for (int distance = reach_of(rank, pattern->ranks) / 2; distance > 0; distance /= 2) {
        if (rank + distance < pattern->ranks) {
            if (puts) {
                put(pattern, pattern->data, rank + distance, 0);
            }
            notify(pattern, rank + distance);
        }
    }
}

static void go(struct pattern *pattern)
{
    const struct tree_operation *operation = cell_choice(pattern->cell, "operation");
#ifndef ONESIDED_OPENSHMEM
    if (pattern->interface->kind == RIVAL) {
        CHECKED(MPI_Bcast(pattern->data, pattern->elements, MPI_INT64_T, ROOT, world_communicator));
        return;
    }
    if (pattern->interface->kind == MPI2_PAIRWISE) {
        pairwise_go(pattern, operation->puts);
        return;
    }
#endif
    if (pattern->interface->kind == MPI2) {
        go_by_levels(pattern, operation->puts);
    } else {
        go_by_notices(pattern, operation->puts);
    }
}

/* ---- The expected data, and who waits ---- */

static bool origin(const struct pattern *pattern, int block, struct block *origin)
{
    *origin = (struct block){.rank = ROOT, .index = block};
    return pattern->rank != ROOT;
}

/* The root's first child, if it is an inner node; else the rank whose memory is accessed. */
static int computing(const struct pattern *pattern)
{
    const struct tree_operation *operation = cell_choice(pattern->cell, "operation");
    const int first = reach_of(ROOT, pattern->ranks) / 2;
    return first > 1 || (operation != NULL && operation->puts) ? first : ROOT;
}

/* True if the message comes through the computing rank, or all ranks make the same collective call,
 * or this parent's start needs the computing rank's post. */
static bool is_behind(const struct pattern *pattern)
{
    const struct tree_operation *operation = cell_choice(pattern->cell, "operation");
    const int above = computing(pattern);
    if (pattern->interface->kind == MPI2_PAIRWISE && operation->puts &&
        pattern->rank == parent_of(above)) {
        return true;
    }
    const bool all_call = pattern->interface->kind == MPI2 || pattern->interface->kind == RIVAL;
    return all_call ||
           (pattern->rank > above && pattern->rank < above + reach_of(above, pattern->ranks));
}

static const struct kind kind = {.in_place = true,
                                 .go = go,
                                 .origin = origin,
                                 .computing = computing,
                                 .meets = everybody,
                                 .is_behind = is_behind,
#ifndef ONESIDED_OPENSHMEM
                                 .enter = pairwise_enter,
                                 .leave = pairwise_leave
#endif
};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    pattern_run(launch, cell, record, &kind);
}

KERNEL("tree_broadcast", "time until a message is at all ranks of a binomial tree",
       .run_cell = run_cell)
