/* Open MPI: a vector of bytes with stride -1 is moved in ascending order.
 *
 * mpicc put_descending_bytes.c -o put_descending_bytes && mpiexec -n 2 ./put_descending_bytes
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static const char letters[] = "abc";
    char *memory;
    int rank, wrong = 0;
    MPI_Win win;
    MPI_Datatype descending;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(3, 1, -1, MPI_BYTE, &descending);
    MPI_Type_commit(&descending);
    MPI_Win_allocate(4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_fence(0, win);
    if (rank == 0) {
        /* its elements are c, b, a: displacements 0, -1, -2 from the last letter */
        MPI_Put(letters + 2, 1, descending, 1, 0, 3, MPI_BYTE, win);
    }
    MPI_Win_fence(0, win);
    if (rank == 1) {
        wrong = memory[0] != 'c' || memory[1] != 'b' || memory[2] != 'a';
        printf("found %.3s, expected cba\n", memory);
    }
    MPI_Type_free(&descending);
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong;
}
