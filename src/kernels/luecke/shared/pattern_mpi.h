/* Accesses of a pattern with MPI, inlined into the function that makes them. */
#ifndef ONESIDED_PATTERN_MPI_H
#define ONESIDED_PATTERN_MPI_H

#include "mpi/checked.h"
#include "mpi/world.h"
#include "rma/notice.h"
#include "rma/window.h"

/* A kernel's own rows come last. */
#define INTERFACES(...) {{"mpi2", MPI2}, {"mpi3", MPI3}, __VA_ARGS__}
#define INTERFACE_NAMES(own_) "mpi2,mpi3," own_
#define FLAVOR_OF_INTERFACE_AXIS                                                                   \
    FLAVOR_ONLY_WITH_AXIS("create,allocate", "interface=mpi2,mpi2_pairwise,mpi3")

#define NOTICE_BYTES 64 /* before a rank's data: a word with a cache line of its own */

struct access_to_others {
    struct window window;
};

#define INLINE static inline __attribute__((always_inline))

INLINE MPI_Aint place_of(const struct pattern *pattern, int rank, int block)
{
    return pattern->others->window.begins[rank] + NOTICE_BYTES +
           (MPI_Aint)block * pattern->elements * (MPI_Aint)sizeof(int64_t);
}

/* Begin to get a block of a rank's data, or to put one there. */
INLINE void get(const struct pattern *pattern, int64_t *result, int rank, int block)
{
    CHECKED(MPI_Get(result, pattern->elements, MPI_INT64_T, rank, place_of(pattern, rank, block),
                    pattern->elements, MPI_INT64_T, pattern->others->window.handle));
}

INLINE void put(const struct pattern *pattern, const int64_t *payload, int rank, int block)
{
    CHECKED(MPI_Put(payload, pattern->elements, MPI_INT64_T, rank, place_of(pattern, rank, block),
                    pattern->elements, MPI_INT64_T, pattern->others->window.handle));
}

/* Complete this rank's accesses to one rank, or to all ranks. With MPI-2 all ranks call it. */
INLINE void complete(const struct pattern *pattern, int rank)
{
    if (pattern->interface->kind == MPI2) {
        CHECKED(MPI_Win_fence(MPI_MODE_NOSUCCEED, pattern->others->window.handle));
    } else if (rank == EVERY_RANK) {
        CHECKED(MPI_Win_flush_all(pattern->others->window.handle));
    } else {
        CHECKED(MPI_Win_flush(rank, pattern->others->window.handle));
    }
}

INLINE void complete_put(const struct pattern *pattern, int rank)
{
    complete(pattern, rank);
}

/* MPI-2, all ranks: complete the accesses, and open an epoch for the next accesses. */
INLINE void fence(const struct pattern *pattern)
{
    CHECKED(MPI_Win_fence(0, pattern->others->window.handle));
}

INLINE struct notice notice_at(const struct pattern *pattern, int rank)
{
    const struct window *window = &pattern->others->window;
    return (struct notice){
        .window = window->handle, .rank = rank, .displacement = window->begins[rank]};
}

/* Tell a rank that this rank's puts have arrived there, or that this rank's data are complete. */
INLINE void notify(const struct pattern *pattern, int rank)
{
    const struct notice notice = notice_at(pattern, rank);
    CHECKED(MPI_Win_sync(pattern->others->window.handle));
    notice_give(&notice, pattern->trial);
}

/* Wait for the notice of another rank. */
INLINE void await(const struct pattern *pattern)
{
    const struct notice notice = notice_at(pattern, pattern->rank);
    notice_await(&notice, pattern->trial);
    CHECKED(MPI_Win_sync(pattern->others->window.handle));
}

#endif
