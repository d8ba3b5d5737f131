/* Slots: which slots are in a window, what each slot has, and whether the data arrived.
 *
 * The target's window has a region for each origin, and a region has a slot for each operation of a
 * burst, so that a lost or repeated operation is noticed. The elements' values depend on the
 * sample. A kernel describes its slots (slots_of, then members), and calls slots_run. A kernel that
 * changes the trial calls slots_open, slots_trial with trial_run (mpi/trial.h), and slots_close; a
 * kernel that takes its own samples calls slots_prepare before a burst and slots_check after it.
 * Any other order ends the launch with a message. */
#ifndef ONESIDED_SLOTS_H
#define ONESIDED_SLOTS_H

#include "harness/launch.h"
#include "mpi/trial.h"
#include "rma/element.h"
#include "rma/operation.h"
#include "rma/window.h"

#define TARGET 0

/* The data of one origin's region, the elements of all slots one after the other. */
struct region {
    int64_t *model; /* the expected values at the target, as words; the least bytes first */
    void *sent;     /* this and the following at the origin: the data to put or accumulate */
    void *result;   /* the fetched data */
    void *compared; /* what compare_and_swap compares with */
    void *copy;     /* the region, read back */
};

struct slots {
    /* The description: set by slots_of, and changed by a kernel before slots_open. */
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct flavor *flavor;       /* of the windows */
    const char *info_key, *info_value; /* of the windows; NULL: none */
    int elements;                      /* of a slot */
    double size_bytes;                 /* of a slot; 0: any size */
    const struct element *element;     /* the datatype of an element */
    int stride_bytes;                  /* from an element to the next, here and at the target */
    const struct layout *layout;       /* places at the target; NULL: side by side */
    const struct operation *makes;     /* rma/operation.h */
    const struct reduction *reduces;   /* the operator; NULL: as `makes` says */
    bool is_new;    /* the target gets new values before each burst, whatever operation is made */
    bool fetches;   /* the loop fetches into `result`, whatever operation `makes` is */
    bool is_common; /* all origins add to the first region, which gets the sum */
    int count;      /* slots of a region, at most */
    int origins;    /* regions, one each */
    int begin, end; /* the regions whose origin this rank is */
    bool is_target; /* this rank verifies its memory */
    int holder;  /* the rank whose window origins access: the target, or its ghost (rma/ghost.h) */
    int target;  /* the rank whose memory is accessed */
    int windows; /* 1, or one for each region */
    int spare;   /* elements behind each region; no operation may touch them */
    MPI_Aint more_bytes, own_bytes; /* at the target behind all regions; at other ranks */
    bool holds_lock_all;            /* all ranks, while the window is open */
    bool posts; /* no locks: the target posts before a burst, and waits after it */
    /* THE TIMED LOOP of an origin: an operation on each of so many slots */
    void (*loop)(struct slots *slots, long long burst);
    /* NULL, or at an origin after a burst: verify the fetched data, in place of the comparison */
    void (*compare)(struct slots *slots, long long burst);

    /* Set by slots_open. */
    int stage;
    struct window *window;    /* `windows` of them */
    struct layout_type type;  /* of a slot at the target */
    struct transfer transfer; /* to an origin's first region; at other ranks to the first */
    int64_t *shared;          /* its address, if this rank shares the target's memory */
    struct region *region;    /* at the target all regions, else this rank's own */
    uint64_t sample;          /* number of the running sample or burst, from 1 */
    struct verification at_target, in_gaps, at_origin, read_back;
};

/* Describe puts of 64-bit integers from all other ranks to rank 0, by the cell's axes and the
 * option `burst`; or with so many elements, in bursts of at most so many operations. */
struct slots slots_of(struct launch *launch, const struct cell *cell, struct record *record);
struct slots slots_of_elements(struct launch *launch, const struct cell *cell,
                               struct record *record, double elements, long long burst);

/* Collective: open the windows; false on all ranks, with the reason in the record, on failure. */
bool slots_open(struct slots *slots);
/* Collective: leave the verifications in the record, and close the windows. */
void slots_close(struct slots *slots);

/* The trial of a cell over these slots; its state is this struct, or a kernel's own struct that
 * begins with it. `time` is the series of an operation; `computes`: rank 0 computes. */
struct trial slots_trial(struct slots *slots, const char *time, bool computes);

/* The whole of a cell: slots_open, the trial that slots_trial returns, and slots_close. */
void slots_run(struct slots *slots, const char *time, bool computes);

/* All ranks: before a burst on so many slots, set new values; after the burst and a barrier, verify
 * them. `state` is this struct, or begins with it. */
void slots_prepare(void *state, long long burst);
void slots_check(void *state, long long burst);

#endif
