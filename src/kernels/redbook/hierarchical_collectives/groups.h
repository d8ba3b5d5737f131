/* Groups of ranks that share memory, each with a leader.
 *
 * A word in a rank's part of the memory says that the rank has come to a call, and a word in the
 * leader's part says that the call is done. Ranks wait by await_word (mpi/await.h), which makes
 * progress for ranks inside MPI. The number of the call rises by one each time, so no word is
 * reset. */
#ifndef ONESIDED_GROUPS_H
#define ONESIDED_GROUPS_H

#include <mpi.h>
#include <stdatomic.h>

#include "harness/launch.h"
#include "mpi/await.h"
#include "mpi/world.h"

#define LEADER 0 /* place in its group */
#define LINE_BYTES 64

/* The beginning of a rank's part: each word has one writer and a cache line of its own. */
struct signs {
    _Alignas(LINE_BYTES) _Atomic uint64_t come; /* calls to which this rank has come */
    _Alignas(LINE_BYTES) _Atomic uint64_t done; /* at the leader: calls that are done */
};

struct groups {
    MPI_Comm members;         /* of this rank's group */
    MPI_Comm leaders;         /* the leaders of all groups; MPI_COMM_NULL at other ranks */
    int count;                /* groups */
    int index, place, size;   /* of this rank's group, of this rank in it, of its members */
    int *index_of, *place_of; /* by rank in the world */
    int *sizes, *begins;      /* by group: its members; members of the groups before */
    MPI_Win window;
    char **parts; /* by place: each member's part of the memory */
};

/* Collective: ranks that share memory form groups of at most `most` ranks; 0: no limit. */
struct groups groups_open(const struct launch *launch, int most);

/* Collective in a group: share memory, with `bytes` behind each rank's signs; all ranks hold a
 * lock_all on it. */
void groups_share(struct groups *groups, size_t bytes);
void groups_unshare(struct groups *groups);
void groups_close(struct groups *groups);

static inline struct signs *signs_of(const struct groups *groups, int place)
{
    return (struct signs *)groups->parts[place];
}

static inline int64_t *shared_of(const struct groups *groups, int place)
{
    return (int64_t *)(groups->parts[place] + sizeof(struct signs));
}

/* Say that this rank has come to a call; the leader waits until all have. */
static inline void groups_gather(const struct groups *groups, uint64_t call)
{
    if (groups->place != LEADER) {
        atomic_store(&signs_of(groups, groups->place)->come, call);
        return;
    }
    for (int place = 1; place < groups->size; place++) {
        await_word(&signs_of(groups, place)->come, call, world_communicator);
    }
}

/* The leader says that a call is done; the others wait until it is. */
static inline void groups_release(const struct groups *groups, uint64_t call)
{
    _Atomic uint64_t *done = &signs_of(groups, LEADER)->done;
    if (groups->place == LEADER) {
        atomic_store(done, call);
    } else {
        await_word(done, call, world_communicator);
    }
}

#endif
