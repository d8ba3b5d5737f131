/* The world of an OpenSHMEM. Ranks gather data through symmetric memory. */
#include "harness/world.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"
#include "harness/watchdog.h"
#include "openshmem/called.h"
#include "openshmem/symmetric.h"

#define WARM_UP_GATHERED 1000

/* By enum thread_level. */
static const int thread_levels[] = {SHMEM_THREAD_SINGLE, SHMEM_THREAD_FUNNELED,
                                    SHMEM_THREAD_SERIALIZED, SHMEM_THREAD_MULTIPLE};

/* Open MPI's OpenSHMEM is a part of its MPI, and only MPI tells the version; the name that
 * OpenSHMEM's own function tells has no version. */
static void describe_version(char *version, size_t size_bytes, int major, int minor)
{
    void *symbol = dlsym(RTLD_DEFAULT, "MPI_Get_library_version");
    char name[SHMEM_MAX_NAME_LEN + 1] = "";
    int (*of_mpi)(char *, int *) = NULL;
    int length = 0;
    if (symbol != NULL) {
        memcpy(&of_mpi, &symbol, sizeof of_mpi);
        of_mpi(version, &length);
        return;
    }
    CALLED(shmem_info_get_name(name));
    snprintf(version, size_bytes, "%s, OpenSHMEM %d.%d", name, major, minor);
}

struct world_library world_library(void)
{
    struct world_library library = {.standard = "OpenSHMEM", .first_function = "shmem_init"};
    int major = 0, minor = 0;
    CALLED(shmem_info_get_version(&major, &minor));
    snprintf(library.standard_version, sizeof library.standard_version, "%d.%d", major, minor);
    describe_version(library.version, sizeof library.version, major, minor);
    return library;
}

int world_rank(void)
{
    return shmem_my_pe();
}

int world_ranks(void)
{
    return shmem_n_pes();
}

_Noreturn void world_abort(int code)
{
    shmem_global_exit(code);
    abort();
}

enum thread_level world_start(enum thread_level required)
{
    int provided = SHMEM_THREAD_SINGLE;
    enum thread_level level = THREAD_SINGLE;
    CALLED(shmem_init_thread(thread_levels[required], &provided));
    while (level < THREAD_MULTIPLE && thread_levels[level] != provided) {
        level++;
    }
    return level;
}

void world_end(void)
{
    CALLED(shmem_finalize());
}

void world_barrier(void)
{
    CALLED(shmem_barrier_all());
}

/* Return symmetric memory of at least room_bytes on all ranks, with this rank's part in it. Other
 * ranks may read the part after all have returned, until all have called `part_is_read`. */
static char *share(const void *own, size_t own_bytes, size_t room_bytes)
{
    static char *shared;
    static size_t shared_bytes;
    if (room_bytes > shared_bytes) {
        if (shared != NULL) {
            symmetric_free(shared);
        }
        shared_bytes = 2 * room_bytes;
        shared = symmetric_allocate(shared_bytes);
    }
    if (own_bytes > 0) {
        memcpy(shared, own, own_bytes);
    }
    CALLED(shmem_barrier_all());
    return shared;
}

static void part_is_read(void)
{
    CALLED(shmem_barrier_all());
}

void world_broadcast(void *data, size_t size_bytes)
{
    const char *shared = share(data, size_bytes, size_bytes);
    CALLED(shmem_getmem(data, shared, size_bytes, 0));
    part_is_read();
}

void world_gather(const void *own, void *all, size_t size_bytes)
{
    const char *shared = share(own, size_bytes, size_bytes);
    for (int rank = 0; rank < world_ranks(); rank++) {
        CALLED(shmem_getmem((char *)all + (size_t)rank * size_bytes, shared, size_bytes, rank));
    }
    part_is_read();
}

void world_gather_texts(const char *own, char *all, const size_t *lengths)
{
    size_t longest = 0;
    for (int rank = 0; rank < world_ranks(); rank++) {
        longest = lengths[rank] > longest ? lengths[rank] : longest;
    }
    const char *shared = share(own, lengths[world_rank()], longest);
    for (int rank = 0; world_rank() == 0 && rank < world_ranks(); rank++) {
        CALLED(shmem_getmem(all, shared, lengths[rank], rank));
        all += lengths[rank];
    }
    part_is_read();
}

double world_greatest(double own)
{
    double *all = allocate((size_t)world_ranks(), sizeof all[0]);
    double greatest = own;
    world_gather(&own, all, sizeof own);
    for (int rank = 0; rank < world_ranks(); rank++) {
        greatest = all[rank] > greatest ? all[rank] : greatest;
    }
    free(all);
    return greatest;
}

void world_warm_up(void)
{
    for (int i = 0; i < WARM_UP_GATHERED; i++) {
        if (world_greatest(world_rank()) != world_ranks() - 1) {
            watchdog_failed("shmem_getmem", "what was gathered in the warm-up is wrong");
        }
    }
}
