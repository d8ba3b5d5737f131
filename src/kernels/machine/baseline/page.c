/* The page that the ranks of a baseline share outside MPI. */
#include "machine/baseline/baseline.h"
#include "mpi/checked.h"
#include "mpi/shared_page.h"
#include "mpi/world.h"

bool page_open(struct experiment *experiment)
{
    const MPI_Comm communicator = world_communicator;
    experiment->page_bytes =
        sizeof *experiment->page + (size_t)experiment->burst * experiment->elements * WORD_BYTES;
    experiment->page = shared_page_open(communicator, experiment->page_bytes);
    if (experiment->page == NULL) {
        record_status(experiment->record, CELL_UNSUPPORTED,
                      "needs memory that all ranks share, on one host: found none");
        return false;
    }
    if (experiment->launch->rank == PARTNER) {
        sem_init(&experiment->page->wake, 1, 0);
    }
    CHECKED(MPI_Barrier(communicator));
    return true;
}

void page_close(struct experiment *experiment)
{
    CHECKED(MPI_Barrier(world_communicator));
    if (experiment->launch->rank == PARTNER) {
        sem_destroy(&experiment->page->wake);
    }
    shared_page_close(experiment->page, experiment->page_bytes);
}
