/* Places of overlapping puts in rank 0's window, and the expected data.
 *
 * Each other rank has a region. Place p begins three blocks after place p - 1 and has four blocks,
 * so neighbouring places share a block, and each place has two blocks of its own. With the distance
 * d, puts go to the first d even places, then to the odd places between them, and so on: a put
 * overlaps the put that came d puts before. Disjoint places share no block. */
#ifndef ONESIDED_PLACES_H
#define ONESIDED_PLACES_H

#include "mpi/trial.h"
#include "mpi/world.h"
#include "rma/window.h"

#define TARGET 0
#define INLINE static inline __attribute__((always_inline))

struct places;

/* How overlapping puts are kept in order: a row of the axis. */
struct idiom {
    const char *name;
    /* THE TIMED LOOP of an origin. */
    void (*go)(struct places *places, long long burst);
    bool is_disjoint, is_two_sided;
    bool is_unordered; /* the earlier put may win, too */
};

struct places {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct idiom *idiom;
    struct window window;
    int elements;             /* of a put */
    long long stride;         /* elements from a place to the next */
    long long distance;       /* a put overlaps the put so many puts before it */
    long long slots;          /* puts of a burst, at most */
    long long count;          /* places of a region: whole groups */
    long long *place_of;      /* by put of a burst: its place */
    long long *put_at;        /* by place: its put; also a place before and after all */
    int64_t *payload;         /* of the puts of a burst, at their origin */
    uint64_t number;          /* of the burst, from 1 */
    double overlapped, older; /* elements of two puts; those from the earlier put */
    struct series *older_series;
    struct verification found;
};

#define NOTHING (-1) /* where no put has written */
#define NO_PUT (-1)  /* a place without a put */

/* The value of an element of a put, in the burst with this number. */
int64_t value_of(const struct places *places, int origin, uint64_t number, long long put,
                 long long element);

/* At rank 0: the region of an origin. */
int64_t *region_of(const struct places *places, int origin);

/* All ranks, after a burst: does each block that two puts share have the data of the later put? */
void places_check(void *state, long long burst);

/* The whole of a kernel's run_cell. */
void places_run(struct launch *launch, const struct cell *cell, struct record *record,
                const struct idiom *idiom);

/* ---- Inlined into the timed loops ---- */

/* A put's arguments, here and at rank 0, for the region of this rank. */
#define PUT_HERE(places, i)                                                                        \
    (places)->payload + (i) * (places)->elements, (places)->elements, MPI_INT64_T
#define PUT_THERE(places, i) TARGET, place_begin(places, i), (places)->elements, MPI_INT64_T

/* The elements of a region; the displacement of a put's place in this rank's region. */
INLINE long long region_elements_of(const struct places *places)
{
    return places->count * places->stride + places->elements;
}

INLINE MPI_Aint place_begin(const struct places *places, long long i)
{
    const long long before = (places->launch->rank - 1) * region_elements_of(places);
    return places->window.begins[TARGET] +
           (MPI_Aint)sizeof(int64_t) * (MPI_Aint)(before + places->place_of[i] * places->stride);
}

/* Is the put at a place still under way? All puts before `flushed` are complete. */
INLINE bool is_under_way(const struct places *places, long long place, long long flushed)
{
    return places->put_at[place] >= flushed;
}

#endif
