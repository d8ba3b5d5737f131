/* What the files of the kernel `progress` share: an experiment, and the rows its axes choose from.
 */
#ifndef ONESIDED_PROGRESS_EXPERIMENT_H
#define ONESIDED_PROGRESS_EXPERIMENT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/helper.h"
#include "harness/launch.h"

struct experiment;

/* Data: where in the window the payload's elements lie. Each element has a place of its own that no
 * operation may touch, its gap. */
struct layout {
    const char *name;
    size_t (*place)(size_t element, size_t elements);
    size_t (*gap)(size_t element, size_t elements);
};

enum effect { KEEPS, REPLACES, ADDS }; /* what becomes of the target's elements */

/* When each part of an access was over, at the origin. */
struct access {
    double begin_s;       /* before the first timed call */
    double begun_s;       /* the epoch is begun */
    double issued_s;      /* the operation's call has returned */
    double waited_s;      /* its request, if it has one, is complete */
    double completed_s;   /* the synchronisation is over */
    double run_delay_s;   /* this thread waited for a core, since it saw the target's flag */
    double entered_mpi_s; /* entered MPI first while it waited for the flag; NAN: it did not */
    uint64_t visits_before, visits_after; /* how often the target had come to MPI */
};

struct operation {
    const char *name;
    enum effect effect;
    bool fetches;
    bool one_element;
    bool request_based;
    bool fails; /* compare_and_swap: compares with what the target does not hold */
    /* THE TIMED LOOP of this operation: an operation on each of the first `count` slots, with a
     * stamp after each part of the last one where the parts are asked for `apart`. */
    struct access (*access)(struct experiment *experiment, long long count, bool apart);
};

enum epoch { PASSIVE, GENERAL_ACTIVE, COLLECTIVE_ACTIVE };

/* The calls at an origin that are timed: before the operation, and after it. */
enum calls { LOCK_UNLOCK, NOTHING_FLUSH, NOTHING_FLUSH_LOCAL, FENCE_FENCE, START_COMPLETE };

/* What stands around the operation, at the origin and at the target. */
struct synchronisation {
    const char *name;
    enum epoch epoch;
    enum calls calls;
    int lock_type;          /* LOCK_UNLOCK */
    int assertion;          /* of the lock */
    bool completes_locally; /* says nothing of the target, unless the operation fetches */
    /* at an origin, untimed: around the cell, and before the target's flag is waited for */
    void (*enter)(struct experiment *experiment);
    void (*leave)(struct experiment *experiment);
    void (*open)(struct experiment *experiment);
    /* at an origin, untimed: what completes at the target where the timed call does not */
    void (*finish)(struct experiment *experiment);
    /* at the target (COLLECTIVE_ACTIVE: at all ranks but origins), before and after its state */
    void (*target_open)(struct experiment *experiment);
    void (*target_close)(struct experiment *experiment);
};

/* Where the window's memory comes from. Displacements are in bytes. */
struct flavor {
    const char *name;
    void (*open)(struct experiment *experiment, MPI_Aint size_bytes);
    void (*close)(struct experiment *experiment);
};

/* When the target was in its state, and what the operating system did meanwhile. */
struct presence {
    double entry_s, exit_s;
    double run_delay_s;
    double involuntary_switches;
};

/* A rank that waited for its core for more than this share of the target's state lost it: a target
 * that is to come to MPI meanwhile could not, or an origin could not see that it did. The analysis
 * goes by the same measure. */
#define LOST_CORE_SHARE 0.1
/* How much longer the target stays in its state in a sample that is taken again. */
#define RETAKE_LENGTHENS 4.0

/* What the target does while origins access its window. */
struct target_state {
    const char *name;
    bool leaves;         /* it ends by itself: the exit is stamped */
    bool visits;         /* comes to MPI while in its state */
    bool holds_lock_all; /* from before the first sample to after the last */
    const struct helper_kind *helper;
    struct presence (*stay)(struct experiment *experiment, double length_s);
};

/* What target and other ranks tell each other outside MPI. */
struct page {
    _Atomic uint64_t entered; /* the sample whose state the target has entered */
    double opened_s;          /* when the target's part of that sample's epoch was open */
    _Atomic uint64_t left;    /* the sample whose state it has left; `presence` is of that one */
    _Atomic uint64_t visits;  /* how often the target came to MPI while in its states */
    struct presence presence;
};

/* What is known of one origin's region of the target's window; elements of eight bytes, those of
 * each slot together. */
struct region {
    int64_t *payload; /* what its origin puts or accumulates */
    int64_t *model;   /* what the target's elements must hold */
};

struct experiment {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct operation *operation;
    const struct flavor *flavor;
    const struct synchronisation *synchronisation;
    const struct layout *layout;
    const struct target_state *target_state;
    int target;  /* rank */
    int origins; /* ranks beside the target, on from there */
    int bystanders;
    int place;  /* of this rank: 0 the target, then the origins, the bystanders, those that wait */
    bool again; /* the cell is over: only its price is taken, once more */
    bool is_target, is_origin, is_bystander;

    MPI_Win window;
    int64_t *memory;       /* at the target: the window's elements */
    MPI_Aint displacement; /* of the first that this origin accesses, in bytes */
    MPI_Aint slot_bytes;   /* from a slot to the next, at the target */
    MPI_Datatype type;     /* of what is accessed in a slot of the target, `type_count` times */
    int type_count;
    MPI_Group peers; /* pscw: the target at the origins, all origins at the target */
    MPI_Request request;

    int elements;           /* of a payload, eight bytes each */
    int slots;              /* payloads of a region: an operation of a burst has one to itself */
    struct region *regions; /* an origin each */
    int known_begin;        /* the regions this rank has to know: an origin its own, the target */
    int known_end;          /* all, any other none */
    int64_t *payload;       /* at an origin: what is put or accumulated */
    int64_t *result;        /* at an origin: what is fetched */
    int64_t *compared;      /* at an origin: what compare_and_swap compares with */
    int64_t *copy;          /* at an origin: its region, read back */
    uint64_t sample;        /* number of the sample or burst that is running, from 1 */
    struct page *page;      /* shared outside MPI */
    double start_s;         /* the cell's common start stamp */
    struct verification at_target, in_gaps, at_origin, read_back;
};

/* The choices of the axes; how many there are stands here for TABLE(). */
extern const struct layout layouts[3];
extern const struct operation operations[11];
extern const struct flavor flavors[4];
extern const struct synchronisation synchronisations[8];

/* At an origin, untimed: get the whole region into `copy`, in an epoch of the cell's own kind. */
void read_back(struct experiment *experiment);

/* At an origin, where bursts cannot be looked at by the target: whatever replaces the target's
 * elements and fetches nothing is read back after each burst. */
bool is_read_back(const struct operation *operation);

/* The rank that stands so many places from the target: --target says in which direction. */
int rank_at(const struct launch *launch, int place);

bool is_contiguous(const struct layout *layout);

/* Make and free `type` and `type_count`: MPI is told the same as the layout's place(). */
void make_type(struct experiment *experiment);
void free_type(struct experiment *experiment);

bool is_shared(const struct flavor *flavor);

bool is_exclusive(const struct synchronisation *synchronisation);

#endif
