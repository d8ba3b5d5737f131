/* What the files of the kernel `progress` share: an experiment, and what its target does.
 */
#ifndef ONESIDED_PROGRESS_EXPERIMENT_H
#define ONESIDED_PROGRESS_EXPERIMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "harness/launch.h"
#include "mpi/helper.h"
#include "slots/bursts.h"

struct experiment;

/* When the target was in its state, and what the operating system did meanwhile. */
struct presence {
    double entry_s, exit_s;
    double run_delay_s;
    double involuntary_switches;
};

/* A rank lost its core if it waited for a core for more than this share of the target's state. Then
 * a target could not come to MPI in time, or an origin could not see the target's visits. The
 * analysis uses the same share. */
#define LOST_CORE_SHARE 0.1

/* What the target does while origins access its window. */
struct target_state {
    const char *name;
    bool leaves;         /* the state ends by itself: the exit is stamped */
    bool visits;         /* comes to MPI while in its state */
    bool holds_lock_all; /* before the first sample until after the last */
    const struct helper_kind *helper;
    bool has_ghost; /* origins access a further rank, which shares the target's memory */
    struct presence (*stay)(struct experiment *experiment, double length_s);
};
extern const struct target_state target_states[7];

/* Memory in which the target informs the other ranks outside MPI. */
struct page {
    _Atomic uint64_t entered; /* the sample whose state the target has entered */
    double opened_s;          /* when the target had opened its part of this sample's epoch */
    _Atomic uint64_t left;    /* the sample whose state the target has left, as in `presence` */
    _Atomic uint64_t visits;  /* how often the target came to MPI while in its states */
    struct presence presence;
};

struct experiment {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct operation *operation;
    const struct synchronisation *synchronisation;
    const struct target_state *target_state;
    int target;  /* rank */
    int holder;  /* the rank that origins access: the target, or its ghost */
    int origins; /* number of ranks after the target that access it */
    int bystanders;
    int place;  /* of this rank: 0 the target, then origins, bystanders, a ghost, waiting ranks */
    bool again; /* the cell is finished: only its latency is taken again */
    bool is_target, is_origin, is_bystander;
    bool answers; /* this rank is the holder */

    struct slots slots;
    struct epoch epoch;       /* at origins and target */
    struct transfer transfer; /* at an origin */
    struct page *page;        /* shared outside MPI */
    double start_s;           /* the cell's common start stamp */
};

/* The greatest number of lengths of --lengths-ms and of --helper-lengths-ms. */
#define LENGTHS_MAX OPTION_NUMBERS_MAX

/* The rank that is `place` places from the target, in the direction that --target gives. */
int rank_at(const struct launch *launch, int place);

/* Collective: leave the reason in the record and return false if the cell cannot run here. */
bool is_supported(struct experiment *experiment);

/* At an origin: an operation on each of `count` slots. THE TIMED LOOP is in rma/operation.c. */
struct access make_accesses(struct experiment *experiment, long long count, bool apart);

/* All ranks: accesses then see the target's stores, and the target sees completed accesses. */
void pass_on(struct experiment *experiment);

/* All ranks, with the window open: take the samples; take one moment of the latency. */
void take_samples(struct experiment *experiment);
void take_latency(struct experiment *experiment);

#endif
