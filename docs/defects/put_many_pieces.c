/* Both ranks put a thousand doubles into a vector of the other, between two fences, in windows of
 * MPI_Win_create that are made and freed one after the other. Every byte is compared. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define PIECES 1000
#define WINDOWS 20

int main(int argc, char **argv)
{
    int rank, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype vector;
    MPI_Type_vector(PIECES, 1, 2, MPI_DOUBLE, &vector);
    MPI_Type_commit(&vector);
    double sent[PIECES], memory[2 * PIECES];
    for (int i = 0; i < WINDOWS; i++) {
        for (int j = 0; j < PIECES; j++) {
            sent[j] = 1 + i + j;
            memory[2 * j] = memory[2 * j + 1] = 0;
        }
        MPI_Win window;
        MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
        MPI_Put(sent, PIECES, MPI_DOUBLE, 1 - rank, 0, 1, vector, window);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
        for (int j = 0; j < PIECES; j++) {
            wrong += memory[2 * j] != sent[j] || memory[2 * j + 1] != 0;
        }
        MPI_Win_free(&window);
    }
    MPI_Type_free(&vector);
    MPI_Finalize();
    printf("rank %d: %d elements are wrong\n", rank, wrong);
    return wrong != 0;
}
