/* Memory that all ranks of one host share outside MPI: for flags and stamps of a running
 * experiment.
 *
 * A rank that looks into it makes no MPI call, so it makes no progress and asks for none: this is
 * how an origin knows that its target is computing, and not merely past a barrier. */
#ifndef ONESIDED_SHARED_PAGE_H
#define ONESIDED_SHARED_PAGE_H

#include <mpi.h>
#include <stddef.h>

/* Collective: map zeroed memory that every rank of the communicator sees, or return NULL on all of
 * them where that cannot be (ranks on several hosts, or in containers apart). Its name is gone when
 * this returns, so that nothing stays behind after a crash. */
void *shared_page_open(MPI_Comm communicator, size_t size_bytes);

/* Local: unmap it; nothing for NULL. */
void shared_page_close(void *page, size_t size_bytes);

#endif
