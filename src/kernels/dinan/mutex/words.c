/* The words of a mutex in its window: made, set free, and verified to be free. */
#include <stdlib.h>
#include <string.h>

#include "dinan/mutex/mutex.h"
#include "harness/memory.h"
#include "mpi/checked.h"

#define CACHE_LINE 64

bool mutex_open(struct mutex *mutex)
{
    const struct flavor *flavor =
        mutex->algorithm->is_shared ? &flavors[FLAVOR_SHARED] : cell_choice(mutex->cell, "flavor");
    /* in some windows the parts follow each other: whole cache lines keep each part aligned */
    const MPI_Aint bytes = (BYTES + mutex->ranks + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    if (!window_is_supported(mutex->launch, flavor, mutex->record)) {
        return false;
    }
    mutex->window = window_open(mutex->launch, flavor, bytes);
    record_window(mutex->record, mutex->window.handle, flavor->name, bytes);
    if (mutex->algorithm->is_shared) {
        MPI_Aint size_bytes;
        int unit;
        void *begin;
        CHECKED(MPI_Win_shared_query(mutex->window.handle, HOST, &size_bytes, &unit, &begin));
        mutex->host_tail = (_Atomic int64_t *)((char *)begin + TAIL);
    }
    if (mutex->algorithm->in_lock_all) {
        window_hold(&mutex->window);
    }
    mutex->others = allocate((size_t)mutex->ranks, sizeof mutex->others[0]);
    return true;
}

void mutex_close(struct mutex *mutex)
{
    window_close(&mutex->window);
    free(mutex->others);
}

static int64_t *own_word(const struct mutex *mutex, MPI_Aint word)
{
    return (int64_t *)((char *)mutex->window.memory + word);
}

static unsigned char *own_bytes(const struct mutex *mutex)
{
    return (unsigned char *)mutex->window.memory + BYTES;
}

static void begin_own(struct mutex *mutex)
{
    window_begin_own(&mutex->window, MPI_LOCK_SHARED);
}

/* Set the parts of the mutex to their values without an owner; barriers keep other ranks away. */
void mutex_make_free(struct mutex *mutex)
{
    begin_own(mutex);
    *own_word(mutex, TAIL) = NOBODY;
    *own_word(mutex, NEXT) = NOBODY;
    *own_word(mutex, GRANTED) = 0;
    memset(own_bytes(mutex), 0, (size_t)mutex->ranks);
    window_end_own(&mutex->window);
}

void mutex_check_free(struct mutex *mutex)
{
    int64_t bytes = 0;
    begin_own(mutex);
    for (int rank = 0; rank < mutex->ranks; rank++) {
        bytes += own_bytes(mutex)[rank];
    }
    verify_element(&mutex->left_free, *own_word(mutex, TAIL), NOBODY, TAIL, mutex->burst);
    verify_element(&mutex->left_free, *own_word(mutex, NEXT), NOBODY, NEXT, mutex->burst);
    verify_element(&mutex->left_free, *own_word(mutex, GRANTED), 0, GRANTED, mutex->burst);
    verify_element(&mutex->left_free, bytes, 0, BYTES, mutex->burst);
    window_end_own(&mutex->window);
}
