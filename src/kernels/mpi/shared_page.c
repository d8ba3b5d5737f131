/* Memory that all ranks of one host share outside MPI: for flags and stamps of a running
 * experiment.
 */
#include "mpi/shared_page.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/clock.h"
#include "mpi/checked.h"

#define NAME_BYTES 64

/* On another host the name may belong to other memory. So rank 0 writes this number into the page,
 * and the other ranks compare it. */
static uint64_t token_of(const char *name)
{
    uint64_t token = 14695981039346656037u;
    for (; *name != '\0'; name++) {
        token = (token ^ (unsigned char)*name) * 1099511628211u;
    }
    return token;
}

static void *map(int descriptor, size_t size_bytes)
{
    if (descriptor < 0) {
        return NULL;
    }
    void *page = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    return page == MAP_FAILED ? NULL : page;
}

static void *create(const char *name, size_t size_bytes)
{
    const int descriptor = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (descriptor >= 0 && ftruncate(descriptor, (off_t)size_bytes) != 0) {
        close(descriptor);
        return NULL;
    }
    return map(descriptor, size_bytes);
}

static int agree(MPI_Comm communicator, int own)
{
    int all = 0;
    CHECKED(MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_LAND, communicator));
    return all;
}

void *shared_page_open(MPI_Comm communicator, size_t size_bytes)
{
    char name[NAME_BYTES] = "";
    int rank = 0;
    uint64_t *page = NULL;
    CHECKED(MPI_Comm_rank(communicator, &rank));
    if (rank == 0) {
        snprintf(name, sizeof name, "/onesided-%ld-%.0f", (long)getpid(), 1e9 * clock_now_s());
        page = create(name, size_bytes);
    }
    CHECKED(MPI_Bcast(name, NAME_BYTES, MPI_CHAR, 0, communicator));
    if (rank == 0 && page != NULL) {
        *page = token_of(name);
    }
    CHECKED(MPI_Barrier(communicator));
    if (rank != 0) {
        page = map(shm_open(name, O_RDWR, 0600), size_bytes);
    }
    const int shared = agree(communicator, page != NULL && *page == token_of(name));
    if (rank == 0) {
        shm_unlink(name);
        if (page != NULL) {
            *page = 0;
        }
    }
    /* No rank uses the page before the token is removed. */
    CHECKED(MPI_Barrier(communicator));
    if (!shared) {
        shared_page_close(page, size_bytes);
        return NULL;
    }
    return page;
}

void shared_page_close(void *page, size_t size_bytes)
{
    if (page != NULL) {
        munmap(page, size_bytes);
    }
}
