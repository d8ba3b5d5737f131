/* A faulty MPI library, for LD_PRELOAD: MPI_Accumulate adds one to the value after its elements. */
#include <mpi.h>
#include <stdint.h>

int MPI_Accumulate(const void *origin, int count, MPI_Datatype type, int target, MPI_Aint place,
                   int target_count, MPI_Datatype target_type, MPI_Op operation, MPI_Win window)
{
    static const int64_t one = 1;
    int bytes = 0;
    PMPI_Type_size(target_type, &bytes);
    const MPI_Aint behind = place + (MPI_Aint)target_count * bytes;
    PMPI_Accumulate(&one, 1, MPI_INT64_T, target, behind, 1, MPI_INT64_T, operation, window);
    return PMPI_Accumulate(origin, count, type, target, place, target_count, target_type, operation,
                           window);
}
