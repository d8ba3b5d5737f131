/* A shared window, and its communicator freed: MPI_Win_unlock_all crashes.
 *
 * mpicc freed_communicator.c -o freed_communicator
 * mpiexec -n 2 ./freed_communicator
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;
    void *memory;
    MPI_Comm ranks_here;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &ranks_here);
    MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, ranks_here, &memory, &window);
    MPI_Comm_free(&ranks_here);
    MPI_Win_lock_all(0, window);
    printf("rank %d calls MPI_Win_unlock_all\n", rank);
    fflush(stdout);
    MPI_Win_unlock_all(window);
    printf("rank %d is back\n", rank);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
