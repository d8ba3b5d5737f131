/* MPI_Win_set_errhandler with I_MPI_ASYNC_PROGRESS=1.
 *
 * mpicc win_set_errhandler.c -o win_set_errhandler
 * I_MPI_ASYNC_PROGRESS=1 mpiexec -n 2 ./win_set_errhandler
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;
    void *memory;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    printf("rank %d calls MPI_Win_set_errhandler\n", rank);
    fflush(stdout);
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    printf("rank %d is back\n", rank);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
