/* What the files of the kernel `progress` share: an experiment, and the rows its axes choose from.
 */
#ifndef ONESIDED_PROGRESS_EXPERIMENT_H
#define ONESIDED_PROGRESS_EXPERIMENT_H

#include <mpi.h>
#include <stdalign.h>
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

struct operation {
    const char *name;
    enum effect effect;
    bool fetches;
    bool one_element;
    void (*issue)(struct experiment *experiment);
    void (*wait)(struct experiment *experiment); /* local completion, where it is a call */
};

enum epoch { PASSIVE, GENERAL_ACTIVE, COLLECTIVE_ACTIVE };

/* What stands around the operation, at the origin and at the target. */
struct synchronisation {
    const char *name;
    enum epoch epoch;
    bool exclusive;
    bool completes_locally; /* says nothing of the target, unless the operation fetches */
    /* at an origin, untimed: around the cell, and before the target's flag is waited for */
    void (*enter)(struct experiment *experiment);
    void (*leave)(struct experiment *experiment);
    void (*open)(struct experiment *experiment);
    /* at an origin, timed */
    void (*begin)(struct experiment *experiment);
    void (*complete)(struct experiment *experiment);
    /* at an origin, untimed: what completes at the target where `complete` does not */
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

#define CACHE_LINE_BYTES 64

/* What target and other ranks tell each other outside MPI. */
struct page {
    _Atomic uint64_t entered; /* the sample whose state the target has entered */
    _Atomic uint64_t left;    /* the sample whose state it has left; `presence` is of that one */
    _Atomic uint64_t visits;  /* how often the target came to MPI while in its states */
    struct presence presence;
    /* each on a cache line of its own: the first origin asks, the target answers */
    alignas(CACHE_LINE_BYTES) _Atomic uint64_t asked;
    alignas(CACHE_LINE_BYTES) _Atomic uint64_t answered;
};

/* What is known of one origin's region of the target's window; elements of eight bytes. */
struct region {
    int64_t *payload; /* what its origin puts or accumulates */
    int64_t *model;   /* what the target's elements must hold */
    int64_t *fetched; /* what the last operation must have fetched */
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
    MPI_Datatype type;     /* of what is accessed at the target, `type_count` times */
    int type_count;
    MPI_Group peers; /* pscw: the target at the origins, all origins at the target */
    MPI_Request request;

    int elements;           /* of the payload, eight bytes each */
    struct region *regions; /* an origin each */
    int known_begin;        /* the regions this rank has to know: an origin its own, the target */
    int known_end;          /* all, any other none */
    int64_t *payload;       /* at an origin: what is put or accumulated */
    int64_t *result;        /* at an origin: what is fetched */
    int64_t compared;       /* at an origin: what compare_and_swap compares with */
    uint64_t sample;        /* number of the sample that is running, from 1 */
    uint64_t trips;         /* round trips of a cache line so far */
    struct page *page;      /* shared outside MPI */
    double start_s;         /* the cell's common start stamp */
    struct verification at_target, in_gaps, at_origin;
};

/* The choices of the axes; how many there are stands here for TABLE(). */
extern const struct layout layouts[3];
extern const struct operation operations[10];
extern const struct flavor flavors[4];
extern const struct synchronisation synchronisations[8];

/* All ranks: a burst of each origin, and what the others have to do in it. Returns seconds. */
double run_burst(struct experiment *experiment, long long burst);

/* The rank that stands so many places from the target: --target says in which direction. */
int rank_at(const struct launch *launch, int place);

bool is_contiguous(const struct layout *layout);

/* Make and free `type` and `type_count`: MPI is told the same as the layout's place(). */
void make_type(struct experiment *experiment);
void free_type(struct experiment *experiment);

bool is_shared(const struct flavor *flavor);

bool is_request_based(const struct operation *operation);

#endif
