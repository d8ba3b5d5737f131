/* An MPI that loses a rank's puts to itself, from the twentieth put after a flush on. */
#include <mpi.h>

static int puts_since_flush;

int MPI_Put(const void *origin, int count, MPI_Datatype type, int target, MPI_Aint displacement,
            int target_count, MPI_Datatype target_type, MPI_Win window)
{
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (++puts_since_flush >= 20 && target == rank) {
        return MPI_SUCCESS;
    }
    return PMPI_Put(origin, count, type, target, displacement, target_count, target_type, window);
}

int MPI_Win_flush(int rank, MPI_Win window)
{
    puts_since_flush = 0;
    return PMPI_Win_flush(rank, window);
}

int MPI_Win_unlock(int rank, MPI_Win window)
{
    puts_since_flush = 0;
    return PMPI_Win_unlock(rank, window);
}
