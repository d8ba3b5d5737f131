/* A mutex in a window: what its algorithms share with the kernel. */
#ifndef ONESIDED_MUTEX_H
#define ONESIDED_MUTEX_H

#include <stdatomic.h>

#include "dinan/mutex/section.h"
#include "harness/launch.h"
#include "rma/window.h"

#define HOST 0 /* the rank with the mutex */
#define NOBODY (-1)

/* Displacements in each rank's part, a cache line each. The host alone has a tail and bytes. */
enum { TAIL = 0, NEXT = 64, GRANTED = 128, BYTES = 192 };

struct algorithm;

struct mutex {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct algorithm *algorithm;
    int rank, ranks;
    bool takes; /* this rank locks and unlocks */
    struct window window;
    unsigned char *others;      /* byte_vector: the fetched bytes, by rank */
    _Atomic int64_t *host_tail; /* c_atomics: its address at this rank */
    struct section section;
    long long unreleased; /* for tests: the cycle without an unlock; -1: none */
    uint64_t burst;       /* number of the burst, from 1 */
    struct series *fairness;
    long long surprises; /* of this burst: words that were not as the algorithm leaves them */
    struct verification queue, left_free;
};

/* How the mutex is locked: a row of the axis. */
struct algorithm {
    const char *name;
    void (*lock)(struct mutex *mutex);
    void (*unlock)(struct mutex *mutex);
    bool in_lock_all; /* inside one epoch of all ranks; else each operation has its own */
    bool is_shared;   /* in a window of shared memory */
};
extern const struct algorithm algorithms[7];

/* Collective: false, with the reason in the record, if there is no such window. */
bool mutex_open(struct mutex *mutex);
void mutex_close(struct mutex *mutex);

/* All ranks, between two barriers: give the mutex the values of a free mutex; verify them. */
void mutex_make_free(struct mutex *mutex);
void mutex_check_free(struct mutex *mutex);

#endif
