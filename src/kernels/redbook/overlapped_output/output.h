/* What the files of the kernel `overlapped_output` share: a way to write a step, and the steps of a
 * rank. */
#ifndef ONESIDED_OVERLAPPED_OUTPUT_H
#define ONESIDED_OVERLAPPED_OUTPUT_H

#include <mpi.h>

#include "harness/storage.h"
#include "mpi/team.h"

struct output;

/* How a rank writes a step: a row of the axis. */
struct way {
    const char *name;
    bool by_thread; /* thread 0 writes a copy while the others compute */
    bool is_later;  /* a write of a copy begins, the thread computes, the write ends */
    bool by_mpi;    /* through an MPI_File; else by system calls */
    void (*begin)(struct output *own, const int64_t *data, long long step);
    void (*end)(struct output *own);
};

/* Where a step is when its output ends: a row of the axis. */
struct until {
    const char *name;
    bool is_device; /* on the device; else in the system's page cache */
};

/* What the ranks do between two outputs: a row of the axis. */
struct meanwhile {
    const char *name;
    bool exchanges; /* pairs of ranks send each other messages; else each rank computes */
};

/* The messages of a step, in each direction; none if the rank computes. */
struct traffic {
    int peer, messages, elements;
    int64_t *sent, *received; /* of all steps of a burst */
    struct verification found;
};

struct output {
    struct launch *launch;
    struct record *record;
    const struct way *way;
    const struct until *until;
    const struct meanwhile *meanwhile;
    struct traffic traffic;
    int elements, steps; /* of a step at this rank; each rank's steps in the file */
    int64_t *shared;     /* the computing threads write to it */
    int64_t *copy;       /* thread 0 writes it to the file; later the file's content */
    struct stored stored;
    MPI_File file;
    int descriptor;
    MPI_Request request;
    struct team team;
    struct thread_barrier barrier; /* of the threads, in a step */
    struct compute computes[TEAM_MAX];
    uint64_t first; /* the burst's first step, from 1; its values are set before the burst */
    long long burst;
    double length_s, output_s, compute_s;
    struct verification found;
};

#define WAYS 5
extern const struct way ways[WAYS];

/* A value of a step: it differs from the values of all other steps and places of the cell. */
static inline int64_t value_of_step(const struct output *own, long long step, int element)
{
    const int64_t place = (int64_t)own->launch->rank * own->elements + element;
    return (((int64_t)own->first + step) << 32) + place;
}

static inline long long bytes_of_step(const struct output *own)
{
    return (long long)own->elements * (long long)sizeof(int64_t);
}

/* Before and after a burst, untimed: open the file; close it, and compare its content. */
void open_output(struct output *own);
void check_output(struct output *own);

/* Exchange the messages of a step of the burst, from 0. Untimed: before and after a burst. */
void exchange_step(struct output *own, long long step);
void exchange_prepare(struct output *own);
void exchange_check(struct output *own);

/* Can the ranks exchange such messages? The record says why not. Then: allocate the messages of a
 * burst; free them, and leave the verification in the record. */
bool exchange_is_supported(const struct output *own, long long message_bytes);
void exchange_open(struct output *own, long long message_bytes);
void exchange_close(struct output *own);

#endif
