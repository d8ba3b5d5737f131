/* Two ranks send to rank 0 over UCX; rank 0 receives from MPI_ANY_SOURCE, and waits forever.
 *
 * mpicc receive_any_source.c -o receive_any_source
 * MPIR_CVAR_NOLOCAL=1 MPIR_CVAR_CH4_NETMOD=ucx mpiexec -n 3 ./receive_any_source
 */
#include <mpi.h>
#include <stdio.h>

#define TIMES 20

int main(int argc, char **argv)
{
    int rank, ranks, from;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int time = 0; time < TIMES; time++) {
        if (rank != 0) {
            MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        }
        for (int message = 1; rank == 0 && message < ranks; message++) {
            printf("time %d: rank 0 waits for message %d of %d\n", time, message, ranks - 1);
            fflush(stdout);
            MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) {
        puts("all messages were received");
    }
    MPI_Finalize();
    return 0;
}
