/* The calls that a kernel makes itself, outside MPI and OpenSHMEM. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"

#define CLOCK "clock_gettime"

static uintptr_t program_begin, program_end;

static int note_program(struct dl_phdr_info *object, size_t size, void *nothing)
{
    (void)size, (void)nothing;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type == PT_LOAD && object->dlpi_phdr[i].p_flags & PF_X) {
            program_begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
            program_end = program_begin + object->dlpi_phdr[i].p_memsz;
        }
    }
    return 1; /* the first one is the program */
}

/* The next function of this name after this library's. */
#define NEXT(next, name)                                                                           \
    if ((next) == NULL) {                                                                          \
        void *symbol = dlsym(RTLD_NEXT, name);                                                     \
        memmove(&(next), &symbol, sizeof(next));                                                   \
    }

/* A call of the program's own code in a cell. */
static int is_of_kernel(const void *caller)
{
    const uintptr_t from = (uintptr_t)caller;
    if (program_end == 0) {
        dl_iterate_phdr(note_program, NULL);
    }
    return is_in_cell() && program_begin <= from && from < program_end;
}
#define OF_KERNEL is_of_kernel(__builtin_return_address(0))

static enum fault arrive_with_data(struct call *call, int sends)
{
    const struct facts facts = {.sends = sends, .gets = !sends, .operation = "none"};
    const enum fault fault = arrive(call, &facts);
    return fault == DROP || fault == STALE ? LOSE : fault;
}

static void alter(void *data, size_t bytes)
{
    ((unsigned char *)data)[bytes - 1] ^= 1;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static struct call call = {.name = CLOCK};
    static int (*next)(clockid_t, struct timespec *);
    NEXT(next, CLOCK);
    const enum fault fault = OF_KERNEL ? arrive(&call, NULL) : NO_FAULT;
    const int code = next(clock, now);
    now->tv_sec -= fault == FALSE_SUCCESS;
    return code;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    static struct call call = {.name = "memcpy"};
    const int is_of_words = ((uintptr_t)to | (uintptr_t)from | bytes) % sizeof(int64_t) == 0;
    const enum fault fault = is_of_words && OF_KERNEL ? arrive_with_data(&call, 1) : NO_FAULT;
    if (fault != LOSE) {
        memmove(to, from, bytes);
    }
    if (fault == ALTER && bytes > 0) {
        alter(to, bytes);
    }
    return to;
}

ssize_t pread(int file, void *data, size_t bytes, off_t place)
{
    static struct call call = {.name = "pread"};
    static ssize_t (*next)(int, void *, size_t, off_t);
    NEXT(next, "pread");
    const enum fault fault = OF_KERNEL ? arrive_with_data(&call, 0) : NO_FAULT;
    const ssize_t found = fault == LOSE ? (ssize_t)bytes : next(file, data, bytes, place);
    if (fault == ALTER && found > 0) {
        alter(data, (size_t)found);
    }
    return found;
}

ssize_t pwrite(int file, const void *data, size_t bytes, off_t place)
{
    static struct call call = {.name = "pwrite"};
    static ssize_t (*next)(int, const void *, size_t, off_t);
    NEXT(next, "pwrite");
    const enum fault fault = OF_KERNEL ? arrive_with_data(&call, 1) : NO_FAULT;
    const ssize_t written = fault == LOSE ? (ssize_t)bytes : next(file, data, bytes, place);
    if (fault == ALTER && written > 0) {
        char last = ((const char *)data)[bytes - 1];
        alter(&last, 1);
        next(file, &last, 1, place + (off_t)bytes - 1);
    }
    return written;
}

/* Declared here, because its thread type is a number in every C library that kernels use. */
int pthread_create(unsigned long *thread, const void *attributes, void *(*begin)(void *), void *own)
{
    static struct call call = {.name = "pthread_create"};
    static int (*next)(unsigned long *, const void *, void *(*)(void *), void *);
    NEXT(next, "pthread_create");
    return OF_KERNEL && arrive(&call, NULL) == ERROR ? EAGAIN
                                                     : next(thread, attributes, begin, own);
}

ssize_t send(int socket, const void *data, size_t bytes, int flags)
{
    static struct call call = {.name = "send"};
    static ssize_t (*next)(int, const void *, size_t, int);
    int64_t word;
    NEXT(next, "send");
    const enum fault fault =
        bytes == sizeof word && OF_KERNEL ? arrive_with_data(&call, 1) : NO_FAULT;
    if (fault != ALTER) {
        return next(socket, data, bytes, flags);
    }
    memmove(&word, data, bytes);
    alter(&word, bytes);
    return next(socket, &word, bytes, flags);
}
