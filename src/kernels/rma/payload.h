/* Payloads with values that depend on the number of the sample or burst, and a model of what must
 * become of them.
 *
 * The target's window has a region for each origin, and a region has slots. Each operation of a
 * burst has a slot, a payload and a result of its own, so that none can be lost or repeated unseen.
 * A burst is verified before the next one: what it fetched is compared with the model; where it
 * replaces the target's elements and fetches nothing, the region can be read back, or the target
 * looks. Sums are verified at the end, for each term differs. */
#ifndef ONESIDED_PAYLOAD_H
#define ONESIDED_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "harness/launch.h"
#include "rma/operation.h"
#include "rma/window.h"

/* Behind each region: they keep origins apart, and no operation has them. */
#define SPARE_ELEMENTS 8

/* What is known of one origin's region; elements of eight bytes, those of each slot together. */
struct region {
    int64_t *payload;  /* what its origin puts or accumulates */
    int64_t *model;    /* what the target's elements must hold */
    int64_t *result;   /* at its origin, as what follows: what is fetched */
    int64_t *compared; /* what compare_and_swap compares with */
    int64_t *copy;     /* the region, read back */
};

struct payload {
    const struct launch *launch;
    const struct cell *cell;
    const struct operation *operation;
    const struct layout *layout; /* of each slot; NULL: the slots are packed, with no gaps */
    int elements;                /* of a slot */
    int slots;                   /* of a region */
    int regions;                 /* an origin each */
    bool is_common;              /* all origins add to the first region: it gets the sum */
    int own_begin, own_end;      /* the regions whose origin this rank is */
    bool is_target;
    struct window *windows; /* one with all regions, or one for each */
    int window_count;

    struct region *region; /* known: at the target all, else this rank's own */
    uint64_t sample;       /* number of the sample or burst that is running, from 1 */
    int64_t right;         /* for tests: the element that was changed */
    struct verification at_target, in_gaps, at_origin, read_back;
};

/* Before the windows are open: make room for what this rank has to know. */
void payload_allocate(struct payload *payload);
void payload_free(struct payload *payload);

/* Of a region, with its gaps and the spare elements; of each window at the target, in bytes. */
size_t region_elements(const struct payload *payload);
MPI_Aint payload_window_bytes(const struct payload *payload);

/* At the target: touch every page, elements and gaps. */
void payload_initialise(struct payload *payload);

/* What the origin of a region accesses it with. The type is made before. */
struct transfer payload_transfer(const struct payload *payload, int region, struct epoch epoch,
                                 struct layout_type type);

/* All ranks: begin a sample, or bursts, on so many slots. New payloads where they are taken from,
 * the target's window too, and nothing of them where they go. */
void payload_prepare(struct payload *payload, long long slots);

/* At an origin: begin a burst of operations on so many slots. */
void payload_renew(struct payload *payload, long long slots);

/* After an operation on each of so many slots: move the model on. An origin compares what it has
 * fetched with the model. */
void payload_advance(struct payload *payload, long long slots);

/* At a rank that made none of these bursts: move the model on by all of them. */
void payload_follow(struct payload *payload, long long bursts, long long slots);

/* At an origin: get a region whole, and compare it with the model. */
void payload_check_copy(struct payload *payload, int region, const struct transfer *transfer);

/* After a barrier that follows the operations: the target compares its windows with the model. */
void payload_check(struct payload *payload);

/* For tests, around the operations of a sample or burst on so many slots (harness/injection.h):
 * what goes to the target is changed before them and put right after them, where what was fetched
 * is. */
void payload_begin_fault(struct payload *payload, long long slots);
void payload_end_fault(struct payload *payload, long long slots);

/* Leave what was verified in the record; `reads_back`: some of it was read back. */
void payload_record(const struct payload *payload, struct record *record);

#endif
