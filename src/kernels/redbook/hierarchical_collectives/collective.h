/* A collective operation of the kernel: its data, and the memory that a group shares. */
#ifndef ONESIDED_COLLECTIVE_H
#define ONESIDED_COLLECTIVE_H

#include "harness/launch.h"
#include "redbook/hierarchical_collectives/groups.h"
#include "rma/window.h"

#define ROOT 0

enum operation { SUM, SUM_AT_ROOT, VECTOR_OF_ROOT, BARRIER, ALLTOALL };

struct collective;

/* An operation and how it is made: a row of the axis. */
struct interface {
    const char *name;
    enum operation operation;
    bool is_hierarchical;
    /* All ranks: THE TIMED LOOP. */
    void (*go)(struct collective *state, int passes);
};

struct collective {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct interface *interface;
    int rank, ranks;
    int elements;         /* of a vector or of a block; 0: a barrier */
    size_t slot_elements; /* of a pass, which has a slot of its own */
    int slots;
    int64_t *sent, *received;    /* all slots */
    int64_t *outbox;             /* at a leader: blocks for other groups */
    int *counts, *displacements; /* by group, in elements: of a leader's messages */
    struct groups groups;
    uint64_t call;  /* number of the last call */
    double *stamps; /* of a burst of barriers: when this rank came, and left the last */
    uint64_t first; /* number of the burst's first pass, from 1 */
    int passes;     /* of the burst */
    struct verification found;
};

bool collective_open(struct collective *state);
void collective_close(struct collective *state);
void collective_prepare(void *state, long long burst);
void collective_check(void *state, long long burst);

/* ---- Inlined into the timed loops ---- */

static inline int64_t *sent(const struct collective *state, int pass)
{
    return state->sent + (size_t)pass * state->slot_elements;
}

static inline int64_t *received(const struct collective *state, int pass)
{
    return state->received + (size_t)pass * state->slot_elements;
}

static inline void add(int64_t *restrict sum, const int64_t *restrict term, int elements)
{
    for (int i = 0; i < elements; i++) {
        sum[i] += term[i];
    }
}

/* Where a member of the group leaves its blocks for all ranks. */
static inline int64_t *collected(const struct collective *state, int place, uint64_t call)
{
    return shared_of(&state->groups, place) + (call % 2) * state->slot_elements;
}

/* Prepare what leaders_alltoall needs in a hierarchical cell; free it. */
void leaders_plan(struct collective *state);
void leaders_forget(struct collective *state);

/* At a leader: collect the group's blocks for other groups, exchange them with other leaders, and
 * leave the received blocks in the group's shared memory. */
void leaders_alltoall(const struct collective *state, uint64_t call);

/* Where this rank finds its block from `source`: in that rank's part, or in the leader's part. */
const int64_t *block_from(const struct collective *state, int source, uint64_t call);

#endif
