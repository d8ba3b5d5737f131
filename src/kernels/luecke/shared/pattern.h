/* Patterns of communication over one description and several interfaces, timed as in the source.
 *
 * Source: Luecke, Spanoyannis, Kraeva, "The performance and scalability of SHMEM and MPI-2
 * one-sided routines on a SGI Origin 2000 and a Cray T3E-600" (2004), section 2. Before each trial
 * all ranks flush their caches and meet in a barrier; a trial takes as long as the slowest rank.
 *
 * Each rank has data that others access, and a result for the data that it gets. Both consist of
 * blocks of size_bytes. Before a trial the data get values of this trial, and the result gets
 * values that no rank sends. After the trial every element of the result is compared with its
 * source. */
#ifndef ONESIDED_PATTERN_H
#define ONESIDED_PATTERN_H

#include "harness/launch.h"

enum interface_kind { MPI2, MPI2_PAIRWISE, MPI3, RIVAL, SHMEM };

/* How a pattern is written: a row of the axis. */
struct interface {
    const char *name;
    enum interface_kind kind;
};

struct target_state {
    const char *name;
    bool computes;
};
extern const struct target_state target_states[2];

struct block {
    int rank;  /* whose data it is */
    int index; /* which block of its data */
};

struct pattern;

/* What a pattern is; all ranks call its functions. */
struct kind {
    int (*blocks)(const struct launch *launch); /* of data, of result; NULL: one */
    bool is_of_a_block;                         /* divide a time by the blocks */
    bool in_place;                              /* the result replaces the data */
    /* Around the trials of a cell; NULL: nothing. */
    void (*enter)(struct pattern *pattern);
    void (*leave)(struct pattern *pattern);
    /* THE TIMED PART of each rank. */
    void (*go)(struct pattern *pattern);
    /* The source of a block of this rank's result; false: the block has no source. */
    bool (*origin)(const struct pattern *pattern, int block, struct block *origin);
    /* The rank that computes, in cells in which a rank computes. */
    int (*computing)(const struct pattern *pattern);
    /* Does this rank communicate with the computing rank? Does it need calls of that rank? */
    bool (*meets)(const struct pattern *pattern);
    bool (*is_behind)(const struct pattern *pattern);
};

struct access_to_others; /* the library's: a window or symmetric memory */

struct pattern {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct kind *kind;
    const struct interface *interface;
    int rank, ranks;
    int elements; /* of a block, eight bytes each */
    int blocks;
    int64_t *data, *result;
    uint64_t trial; /* from 1 */
    struct access_to_others *others;
    void *own; /* the kernel's, from `enter` to `leave` */
    struct verification found;
};

#define SIZE_BYTES_MAX (1 << 24)
#define EVERY_RANK (-1)

/* Rows of a kernel's axes; rows of the kernel's own may come between them. The kernel declares its
 * table `interfaces` before these rows. */
#define INTERFACE_AXIS(own_)                                                                       \
    CHOICE_AXIS("interface", "how the pattern is written", INTERFACE_NAMES(own_), interfaces)
#define SIZE_AXIS                                                                                  \
    INTEGER_AXIS("size_bytes", "size of a message, a multiple of 8", "8,10000", 8, SIZE_BYTES_MAX)
#define TARGET_STATE_AXIS                                                                          \
    CHOICE_AXIS("target_state", "a rank that others access takes part at once, or computes first", \
                "takes_part", target_states)
#define WITH_ONE_SIDED "interface=mpi2,mpi2_pairwise,mpi3,shmem"

/* Rows of a kernel's options. */
#define PATTERN_OPTIONS                                                                            \
    INTEGER_OPTION("trials", "N", "trials of a cell; who reads them leaves out the first", "51",   \
                   1, SERIES_SAMPLES_MAX),                                                         \
        {.name = "cache-bytes",                                                                    \
         .argument = "BYTES",                                                                      \
         .help = "each rank writes so many before each trial; by default its share of its "        \
                 "machine's largest cache, and as much as its core's own caches at least",         \
         .kind = OPTION_INTEGER,                                                                   \
         .minimum = 0,                                                                             \
         .maximum = 1LL << 40},                                                                    \
        INTEGER_OPTION("computing-trials", "N", "trials of a cell in which a rank computes", "11", \
                       1, SERIES_SAMPLES_MAX),                                                     \
        NUMBER_OPTION("compute-ms", "MS", "length of that computing", "10", 0.1, 3600000)

/* The whole of a kernel's run_cell. */
void pattern_run(struct launch *launch, const struct cell *cell, struct record *record,
                 const struct kind *kind);

/* Functions for `is_behind` and `meets`. */
bool nobody(const struct pattern *pattern);
bool everybody(const struct pattern *pattern);

static inline int64_t *block_of(int64_t *blocks, const struct pattern *pattern, int block)
{
    return blocks + (size_t)block * (size_t)pattern->elements;
}

/* ---- For each library: pattern_mpi.c and pattern_shmem.c ---- */

/* Collective: make data and result; false, with the reason in the record, if this is impossible. */
bool others_open(struct pattern *pattern);
void others_close(struct pattern *pattern);

/* Before and after this rank's own loads and stores, between trials. */
void others_begin_own(struct pattern *pattern);
void others_end_own(struct pattern *pattern);

/* All ranks, untimed: open the epoch of the accesses. A barrier follows. */
void others_begin_trial(struct pattern *pattern);

#ifdef ONESIDED_OPENSHMEM
#include "luecke/shared/pattern_shmem.h"
#else
#include "luecke/shared/pattern_mpi.h"
#endif

#endif
