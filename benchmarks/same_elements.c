/* Gives a benchmark's accumulates the elements of ours: integers of eight bytes, summed.
 *
 * OSU's add bytes and IMB-RMA's add floats. To add a megabyte of bytes takes longer than to add a
 * megabyte of larger elements. peers.py preloads this library, so that the remaining ratio does not
 * depend on the datatype.
 */
#include <mpi.h>

int MPI_Accumulate(const void *origin, int origin_count, MPI_Datatype origin_type, int target,
                   MPI_Aint displacement, int target_count, MPI_Datatype target_type,
                   MPI_Op operation, MPI_Win window)
{
    int size = 0;
    PMPI_Type_size(origin_type, &size);
    const long long bytes = (long long)origin_count * size;
    if (bytes % 8 != 0 || operation != MPI_SUM) {
        return PMPI_Accumulate(origin, origin_count, origin_type, target, displacement,
                               target_count, target_type, operation, window);
    }
    const int count = (int)(bytes / 8);
    return PMPI_Accumulate(origin, count, MPI_INT64_T, target, displacement, count, MPI_INT64_T,
                           MPI_SUM, window);
}
