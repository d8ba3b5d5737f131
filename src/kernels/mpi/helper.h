/* Helper threads: a second thread of a rank that stays inside MPI, so that MPI may progress.
 *
 * Each kind is a row of a table. A helper that should wait in MPI may return at once, for example
 * if its send to itself completes eagerly. helper_stop tells whether the helper was still
 * waiting. */
#ifndef ONESIDED_HELPER_H
#define ONESIDED_HELPER_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct helper;

struct helper_kind {
    const char *name;
    void (*connect)(struct helper *helper); /* collective: make its communicator */
    int (*wait)(struct helper *helper);     /* in the thread; returns an MPI code */
    void (*release)(struct helper *helper); /* in the main thread: let `wait` return */
};

struct helper {
    const struct helper_kind *kind;
    bool present; /* this rank has the thread */
    MPI_Comm parent;
    MPI_Comm communicator;
    int own_rank; /* in communicator */
    pthread_t thread;
    atomic_bool entered;
    atomic_bool returned;
    atomic_int code; /* of the thread's first MPI call that failed */
};

/* Waits in MPI_Recv on a private duplicate of the parent communicator. */
extern const struct helper_kind helper_blocked;
/* Calls MPI_Iprobe on a duplicate of the parent communicator until it is released. */
extern const struct helper_kind helper_polling;
/* Sends to itself on a communicator of one process, as the 2008 report's helper does. */
extern const struct helper_kind helper_send;

/* Collective over the parent. Needs MPI_THREAD_MULTIPLE. */
void helper_start(struct helper *helper, const struct helper_kind *kind, MPI_Comm parent);

/* As helper_start, but only rank `only_rank` of the parent gets a thread. */
void helper_start_at(struct helper *helper, const struct helper_kind *kind, MPI_Comm parent,
                     int only_rank);

/* Release and join the helper; true if it had returned before it was released. Collective. */
bool helper_stop(struct helper *helper);

#endif
