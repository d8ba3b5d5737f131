/* To be preloaded: each MPI_Win_flush gets a byte of its target's memory, which takes another round
 * trip. */
#include <mpi.h>

int MPI_Win_flush(int rank, MPI_Win window)
{
    char byte;
    const int code = PMPI_Win_flush(rank, window);
    return code != MPI_SUCCESS || PMPI_Get(&byte, 1, MPI_CHAR, rank, 0, 1, MPI_CHAR, window)
               ? MPI_ERR_OTHER
               : PMPI_Win_flush(rank, window);
}
