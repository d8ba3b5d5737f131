/* Places of overlapping puts in rank 0's window, and what must be found there.
 *
 * Each other rank has a region. Place p begins three blocks after place p - 1 and is four long, so
 * neighbours share a block, and each place has two blocks of its own. With the distance d, puts go
 * to the first d even places, then to the odd ones between them, and so on: a put comes d puts
 * after one that it overlaps. Disjoint places share nothing. */
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
    bool is_unordered; /* the earlier one may win, too */
};

struct places {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct idiom *idiom;
    struct window window;
    int elements;             /* of a put */
    long long stride;         /* elements from a place to the next */
    long long distance;       /* a put overlaps one so many puts before it */
    long long slots;          /* puts of a burst, at most */
    long long count;          /* places of a region: whole groups */
    long long *place_of;      /* of a put of a burst */
    long long *put_at;        /* of a place; one more before the first and after the last */
    int64_t *payload;         /* of the puts of a burst, at their origin */
    uint64_t number;          /* of the burst, from 1 */
    double overlapped, older; /* elements that two puts wrote, and those that the earlier one has */
    struct series *older_series;
    struct verification found;
};

#define NOTHING (-1) /* where no put has been */
#define NO_PUT (-1)  /* at a place */

/* What an element of a put is, of the burst of that number. */
int64_t value_of(const struct places *places, int origin, uint64_t number, long long put,
                 long long element);

/* At rank 0: of an origin. */
int64_t *region_of(const struct places *places, int origin);

/* All ranks, after a burst: is the later put's data in each block that two share? */
void places_check(void *state, long long burst);

/* The whole of a kernel's run_cell. */
void places_run(struct launch *launch, const struct cell *cell, struct record *record,
                const struct idiom *idiom);

/* ---- For the timed loops, of which they become a part ---- */

/* What a put takes, here and at rank 0; for the region of this rank. */
#define PUT_HERE(places, i)                                                                        \
    (places)->payload + (i) * (places)->elements, (places)->elements, MPI_INT64_T
#define PUT_THERE(places, i) TARGET, place_begin(places, i), (places)->elements, MPI_INT64_T

/* Elements of a region, and the displacement of a put's place in that of this rank. */
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

/* Has a place a put since the one of this number, which has not been waited for? */
INLINE bool is_under_way(const struct places *places, long long place, long long flushed)
{
    return places->put_at[place] >= flushed;
}

#endif
