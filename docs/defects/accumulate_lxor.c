/* call=accumulate,operator=lxor,element=int32,count=1,layout_origin=plain,layout_target=plain,flavor=create,synchronisation=lock_all_flush,outstanding=1,overlap=apart,target=last,memory=every,window=exact,windows=1,datatypes=kept
 *
 * mpicc accumulate_lxor.c -o accumulate_lxor && mpiexec -n 2 ./accumulate_lxor
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TARGET = 1, WINDOW_BYTES = 4, BUFFER_BYTES = 4, COUNT = 1, WINDOWS = 1 };
static const unsigned char window_bytes[2][5] = {{
                                                     0,
                                                     0,
                                                     0,
                                                     0,
                                                 },
                                                 {
                                                     1,
                                                     0,
                                                     0,
                                                     0,
                                                 }};
static const unsigned char *const window_compared = NULL;
static const unsigned char origin[1][5] = {{
    3,
    0,
    0,
    0,
}};
static const unsigned char result[1][5] = {{
    105,
    219,
    63,
    96,
}};
static unsigned char from[BUFFER_BYTES], into[BUFFER_BYTES], others[WINDOW_BYTES];

static int look(const char *what, int rank, const unsigned char *found,
                const unsigned char *expected, const unsigned char *compared, long bytes)
{
    int wrong = 0;
    for (long i = 0; i < bytes; i++) {
        if ((compared == NULL || compared[i]) && found[i] != expected[i] && wrong++ == 0) {
            printf("rank %d: %s, byte %ld: found %d, expected %d\n", rank, what, i, found[i],
                   expected[i]);
        }
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, wrong = 0;
    MPI_Win wins[WINDOWS];
    unsigned char *memories[WINDOWS];
    MPI_Aint bases[WINDOWS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int is_origin = rank == 0, mine = 0;
    const long size = WINDOW_BYTES;
    for (int w = 0; w < WINDOWS; w++) {
        bases[w] = 0;
        memories[w] = malloc(size + 1);
        MPI_Win_create(memories[w], size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &wins[w]);
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, wins[w]);
        for (long i = 0; i < size; i++) {
            others[i] = 255 - window_bytes[0][i];
            memories[w][i] = rank == TARGET ? window_bytes[0][i] : others[i];
        }
        MPI_Win_sync(wins[w]);
        MPI_Win_unlock(rank, wins[w]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int w = 0; w < WINDOWS; w++) {
        MPI_Win win = wins[w];
        unsigned char *memory = memories[w];
        const MPI_Aint base = bases[w];
        memcpy(from, origin[mine], BUFFER_BYTES);
        memcpy(into, result[mine], BUFFER_BYTES);
        MPI_Datatype t0;
        MPI_Type_dup(MPI_INT32_T, &t0);
        MPI_Datatype t1;
        MPI_Type_dup(MPI_INT32_T, &t1);
        MPI_Datatype here_type = t0, there_type = t1;
        MPI_Type_commit(&here_type);
        MPI_Type_commit(&there_type);
        if (is_origin) {
            MPI_Win_lock_all(0, win);
            for (int i = 0; i < 1; i++) {
                const MPI_Aint here = 0 + i * 4L;
                const MPI_Aint there = base + 0 + i * 4L;
                MPI_Accumulate(from + here, COUNT, here_type, TARGET, there, 1, there_type,
                               MPI_LXOR, win);
            }
            MPI_Win_flush(TARGET, win);
            memset(from, 170, BUFFER_BYTES);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (!is_origin) {
            MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
        }
        MPI_Win_sync(win);
        wrong += look("window", rank, memory, rank == TARGET ? window_bytes[1] : others,
                      window_compared, size);
        if (!is_origin) {
            MPI_Win_unlock(rank, win);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (is_origin) {
            MPI_Win_unlock_all(win);
        }
    }
    for (int w = 0; w < WINDOWS; w++) {
        const int i = w;
        MPI_Win_free(&wins[i]);
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf(wrong ? "%d bytes are wrong\n" : "every byte is right\n", wrong);
    }
    MPI_Finalize();
    return wrong != 0;
}
