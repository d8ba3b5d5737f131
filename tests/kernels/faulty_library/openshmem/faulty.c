/* The faulty OpenSHMEM: all calls of kernels, except calls that only ask for a value. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

#include "../fault.h"

#define BIT (1LL << 20)
#define BLOCKS 64

/* The library's own function of this name. */
#define NEXT(next, name)                                                                           \
    void *const symbol = dlsym(RTLD_NEXT, name);                                                   \
    memmove(&(next), &symbol, sizeof(next))

/* OpenSHMEM returns no errors: each error ends the launch. */
static void end_if(enum fault fault)
{
    if (fault == ERROR || fault == FATAL) {
        shmem_global_exit(EXIT_FAILURE);
    }
}

void shmem_barrier_all(void)
{
    static struct call call = {.name = "shmem_barrier_all"};
    void (*next)(void);
    NEXT(next, "shmem_barrier_all");
    const enum fault fault = arrive(&call, NULL);
    end_if(fault);
    if (fault != FALSE_SUCCESS) {
        next();
    }
    look_for_cell();
}

/* Memory allocated in a cell is the kernel's; other memory is the harness's. */
static struct {
    char *begin;
    size_t bytes;
    long cell;
} blocks[BLOCKS];

static int made;

/* Another block may have had this place before. */
static int is_of_cell(const void *address)
{
    const char *const at = address;
    for (int i = made - 1; i >= 0 && i >= made - BLOCKS; i--) {
        const char *const begin = blocks[i % BLOCKS].begin;
        if (begin <= at && at < begin + blocks[i % BLOCKS].bytes) {
            return cells_begun > 0 && blocks[i % BLOCKS].cell == cells_begun;
        }
    }
    return 0;
}

void *shmem_malloc(size_t bytes)
{
    static struct call call = {.name = "shmem_malloc"};
    void *(*next)(size_t);
    NEXT(next, "shmem_malloc");
    end_if(arrive(&call, NULL));
    void *const begin = next(bytes);
    blocks[made % BLOCKS].begin = begin;
    blocks[made % BLOCKS].bytes = bytes;
    blocks[made++ % BLOCKS].cell = cells_begun;
    return begin;
}

/* Another call does not get a lost number. */
long long shmem_longlong_atomic_fetch_inc(long long *counter, int rank)
{
    static struct call call = {.name = "shmem_longlong_atomic_fetch_inc"};
    static _Thread_local long long before;
    const struct facts facts = {.sends = 1, .gets = 1, .is_payload = 1, .operation = "none"};
    long long (*next)(long long *, int);
    NEXT(next, "shmem_longlong_atomic_fetch_inc");
    const enum fault fault = arrive(&call, &facts);
    end_if(fault);
    if (fault == LOSE || fault == DROP) {
        return -1;
    }
    const long long number = next(counter, rank);
    const long long found = fault == STALE                            ? before
                            : fault == ALTER || fault == WRONG_RESULT ? number ^ BIT
                                                                      : number;
    before = number;
    return found;
}

/* Bytes from another rank, or for another rank. */
#define CARRYING(function, sends_)                                                                 \
    void function(void *to, const void *from, size_t bytes, int rank)                              \
    {                                                                                              \
        static struct call call = {.name = #function};                                             \
        const struct facts facts = {.sends = sends_,                                               \
                                    .gets = !sends_,                                               \
                                    .is_payload = is_of_cell(sends_ ? to : from),                  \
                                    .operation = "none"};                                          \
        void (*next)(void *, const void *, size_t, int);                                           \
        NEXT(next, #function);                                                                     \
        const enum fault fault = arrive(&call, &facts);                                            \
        end_if(fault);                                                                             \
        carry(fault, next, to, from, bytes, rank, sends_);                                         \
    }

/* The bytes of the previous put, if the put was in this cell and had as many bytes. They are a
 * copy, because their place may have new bytes since then. NULL if the fault is not STALE. */
static const void *put_before(const void *from, size_t bytes, enum fault fault)
{
    static _Thread_local struct {
        void *copy;
        size_t bytes;
        long cell;
    } before;
    const void *found = NULL;
    if (!may_be_stale()) {
        return NULL;
    }
    if (fault == STALE && before.cell == cells_begun && before.bytes == bytes) {
        found = before.copy; /* never freed: the put is under way */
    } else {
        free(before.copy);
    }
    before.copy = memcpy(malloc(bytes), from, bytes);
    before.bytes = bytes;
    before.cell = cells_begun;
    return found;
}

/* The source of the previous get, if it had as many bytes from another place. */
static const void *got_before(const void *from, size_t bytes)
{
    static _Thread_local const void *before;
    static _Thread_local size_t bytes_before;
    const void *const found = bytes_before == bytes && before != from ? before : NULL;
    before = from;
    bytes_before = bytes;
    return found;
}

static void carry(enum fault fault, void (*next)(void *, const void *, size_t, int), void *to,
                  const void *from, size_t bytes, int rank, int sends)
{
    const void *const stale = sends ? put_before(from, bytes, fault) : got_before(from, bytes);
    if (fault == LOSE || fault == DROP || (fault == STALE && stale == NULL)) {
        return;
    }
    if (fault == ALTER && sends) {
        char *copy = memcpy(malloc(bytes), from, bytes); /* never freed: the put is under way */
        copy[bytes - 1] ^= 1;
        next(to, copy, bytes, rank);
        return;
    }
    next(to, fault == STALE ? stale : from, bytes, rank);
    if (fault == ALTER) {
        ((char *)to)[bytes - 1] ^= 1;
    }
}

CARRYING(shmem_putmem, 1)
CARRYING(shmem_getmem, 0)
