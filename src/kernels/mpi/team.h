/* Threads, or processes, that begin together, outside MPI. */
#ifndef ONESIDED_TEAM_H
#define ONESIDED_TEAM_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "harness/launch.h"
#include "harness/thread_barrier.h"

/* Where participants wait for each other, and when the last one came; zeroed, in shared memory. */
struct meeting {
    atomic_int arrived;
    _Atomic uint64_t round;
    double stamp_s;
};

/* Wait for all participants; return the stamp of the last arrival. Processes wait as in await.h.
 * Threads of one process, with MPI_COMM_NULL, only look at a word. */
double meet(struct meeting *meeting, int participants, MPI_Comm processes);

#define TEAM_MAX 16

struct team;
struct member {
    struct team *team;
    int number;
    pthread_t thread;
};

/* Threads of a process that do a task together again and again; the first is the calling one. */
struct team {
    int count;
    void (*task)(void *state, int number);
    void *state;
    bool sleeps; /* a waiting thread gives its core away; else it spins */
    struct meeting begin, end;
    struct thread_barrier asleep; /* in place of `begin` and `end` */
    bool is_over;
    struct member members[TEAM_MAX];
};

/* Tell whether so many threads may run, at the thread level that they need; the record says why
 * not. */
bool team_is_supported(const struct launch *launch, struct record *record, int threads,
                       enum thread_level needed);

/* Start all but the first; they wait for tasks until the team is closed. */
void team_open(struct team *team);

/* At the first member: let all members do the task; returns when all are through. */
void team_run(struct team *team);
void team_close(struct team *team);

/* Start a thread of this process, or end the launch. */
pthread_t team_start(void *(*thread_main)(void *), void *argument);

#endif
