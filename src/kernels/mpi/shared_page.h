/* Memory that all ranks of one host share outside MPI: for flags and stamps of a running
 * experiment.
 *
 * A rank that looks into this memory makes no MPI call, so it neither makes progress nor asks for
 * it. In this way an origin knows that its target computes, and has not only passed a barrier. */
#ifndef ONESIDED_SHARED_PAGE_H
#define ONESIDED_SHARED_PAGE_H

#include <mpi.h>
#include <stddef.h>

/* Collective: map zeroed memory that every rank of the communicator sees. Return NULL on all ranks
 * if this is impossible (several hosts, or separate containers). The memory's name is removed
 * before the return, so nothing stays behind after a crash. */
void *shared_page_open(MPI_Comm communicator, size_t size_bytes);

/* Local: unmap the memory; do nothing for NULL. */
void shared_page_close(void *page, size_t size_bytes);

#endif
