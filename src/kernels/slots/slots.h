/* Slots: which there are in a window, what is in each, and whether it arrived.
 *
 * The target's window has a region for each origin, and a region has a slot for each operation of
 * a burst: none can be lost or repeated unseen. Elements get values that depend on the sample. A
 * kernel describes its slots (slots_of, then members), and calls slots_open, slots_trial with
 * trial_run (mpi/trial.h), and slots_close; a kernel that takes its own samples calls slots_prepare
 * before a burst and slots_check after it. Any other order ends the launch with a word on it. */
#ifndef ONESIDED_SLOTS_H
#define ONESIDED_SLOTS_H

#include "harness/launch.h"
#include "mpi/trial.h"
#include "rma/element.h"
#include "rma/operation.h"
#include "rma/window.h"

#define TARGET 0

/* What is known of one origin's region, the elements of each slot together. */
struct region {
    int64_t *model; /* what the target's elements must hold, as words; the least bytes first */
    void *sent;     /* at its origin, as what follows: what it puts or accumulates */
    void *result;   /* what is fetched */
    void *compared; /* what compare_and_swap compares with */
    void *copy;     /* the region, read back */
};

struct slots {
    /* What they are: said by slots_of, and changed by a kernel before slots_open. */
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct flavor *flavor;       /* of the windows */
    const char *info_key, *info_value; /* of them; NULL: none */
    int elements;                      /* of a slot */
    double size_bytes;                 /* of them; 0: any will do */
    const struct element *element;     /* what each is */
    int stride_bytes;                  /* from an element to the next, here and at the target */
    const struct layout *layout;       /* where they are at the target; NULL: side by side */
    const struct operation *makes;     /* rma/operation.h */
    const struct reduction *reduces;   /* with what operator; NULL: as `makes` says */
    bool is_new;    /* the target's elements get new values before each burst, whatever is made */
    bool is_common; /* all origins add to the first region: it gets the sum */
    int count;      /* slots of a region, at most */
    int origins;    /* regions, one each */
    int begin, end; /* the regions whose origin this rank is */
    bool is_target; /* this rank looks at what arrives */
    int holder;  /* the rank whose window origins access: the target, or its ghost (rma/ghost.h) */
    int target;  /* the rank whose memory that is */
    int windows; /* 1, or one for each region */
    int spare;   /* elements behind each region: nobody may touch them */
    MPI_Aint more_bytes, own_bytes; /* of the target's part behind all regions; of the others' */
    bool holds_lock_all;            /* all ranks, as long as the window is open */
    bool posts; /* no locks: the target posts before a burst, and waits after it */
    /* THE TIMED LOOP of an origin: an operation on each of so many slots */
    void (*loop)(struct slots *slots, long long burst);
    /* NULL, or at an origin after a burst: look at what came back, in place of the comparison */
    void (*compare)(struct slots *slots, long long burst);

    /* What there is once they are open. */
    int stage;
    struct window *window;    /* as many as there are */
    struct layout_type type;  /* of a slot at the target */
    struct transfer transfer; /* to an origin's first region; another rank's: to the first */
    int64_t *shared;          /* the same, where others share the target's memory */
    struct region *region;    /* known: at the target all, else this rank's own */
    uint64_t sample;          /* number of the sample or burst that is running, from 1 */
    struct verification at_target, in_gaps, at_origin, read_back;
};

/* All other ranks put 64-bit integers to rank 0, by the cell's axes and the option `burst`; or so
 * many elements, in bursts of so many operations at most. */
struct slots slots_of(struct launch *launch, const struct cell *cell, struct record *record);
struct slots slots_of_elements(struct launch *launch, const struct cell *cell,
                               struct record *record, double elements, long long burst);

/* Collective: open the windows, or leave the reason in the record and return false on all ranks. */
bool slots_open(struct slots *slots);
/* Collective: leave what was verified in the record, and close the windows. */
void slots_close(struct slots *slots);

/* The trial of a cell over these slots; its state is this struct, or a kernel's own struct that
 * begins with it. `time` is the series of an operation; `computes`: rank 0 does. */
struct trial slots_trial(struct slots *slots, const char *time, bool computes);

/* All ranks: new values, before a burst on so many slots; what has become of them, after it and a
 * barrier. `state` is this struct, or begins with it. */
void slots_prepare(void *state, long long burst);
void slots_check(void *state, long long burst);

#endif
