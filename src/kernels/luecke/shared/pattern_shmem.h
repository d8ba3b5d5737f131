/* Accesses of a pattern with OpenSHMEM, inlined into the function that makes them. */
#ifndef ONESIDED_PATTERN_SHMEM_H
#define ONESIDED_PATTERN_SHMEM_H

#include "openshmem/called.h"
#include "openshmem/symmetric.h"

#define INTERFACES(...)                                                                            \
    {                                                                                              \
        {                                                                                          \
            "shmem", SHMEM                                                                         \
        }                                                                                          \
    }
#define INTERFACE_NAMES(own_) "shmem"
#define FLAVOR_OF_INTERFACE_AXIS NO_FLAVOR_AXIS("interface=mpi2,mpi2_pairwise,mpi3")

struct access_to_others {
    int64_t *notice; /* symmetric, as data are */
};

#define INLINE static inline __attribute__((always_inline))

/* Get a block of a rank's data, or begin to put one there. */
INLINE void get(const struct pattern *pattern, int64_t *result, int rank, int block)
{
    CALLED(shmem_getmem(result, block_of(pattern->data, pattern, block),
                        (size_t)pattern->elements * sizeof result[0], rank));
}

INLINE void put(const struct pattern *pattern, const int64_t *payload, int rank, int block)
{
    CALLED(shmem_putmem(block_of(pattern->data, pattern, block), payload,
                        (size_t)pattern->elements * sizeof payload[0], rank));
}

/* A get is complete when it returns. */
INLINE void complete(const struct pattern *pattern, int rank)
{
    (void)pattern;
    (void)rank;
}

INLINE void complete_put(const struct pattern *pattern, int rank)
{
    (void)pattern;
    (void)rank;
    CALLED(shmem_quiet());
}

INLINE void fence(const struct pattern *pattern)
{
    (void)pattern; /* only MPI-2 has a fence */
}

/* Tell a rank that this rank's puts have arrived there, or that this rank's data are complete. */
INLINE void notify(const struct pattern *pattern, int rank)
{
    CALLED(shmem_fence());
    CALLED(shmem_int64_p(pattern->others->notice, (int64_t)pattern->trial, rank));
}

/* Wait for the notice of another rank. */
INLINE void await(const struct pattern *pattern)
{
    CALLED(shmem_int64_wait_until(pattern->others->notice, SHMEM_CMP_EQ, (int64_t)pattern->trial));
}

#endif
