/* call=accumulate,operator=maxloc,element=double_int,count=1,layout_origin=vector,layout_target=plain,flavor=allocate,synchronisation=lock_all_flush,outstanding=1,overlap=apart,target=last,memory=every,window=exact,windows=1,datatypes=kept
 *
 * mpicc accumulate_strided_pair.c -o accumulate_strided_pair && mpiexec -n 2
 * ./accumulate_strided_pair
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TARGET = 1, WINDOW_BYTES = 96, BUFFER_BYTES = 160, COUNT = 1, WINDOWS = 1 };
static const unsigned char window_bytes[2][97] = {
    {
        0,   0, 0, 0, 0, 0,   69, 64, 182, 3, 0, 0, 0, 0,   0,  0,  0,  0, 0, 0, 0, 0, 83, 64,
        26,  3, 0, 0, 0, 0,   0,  0,  0,   0, 0, 0, 0, 64,  81, 64, 52, 0, 0, 0, 0, 0, 0,  0,
        0,   0, 0, 0, 0, 128, 74, 64, 12,  1, 0, 0, 0, 0,   0,  0,  0,  0, 0, 0, 0, 0, 83, 64,
        188, 2, 0, 0, 0, 0,   0,  0,  0,   0, 0, 0, 0, 128, 80, 64, 56, 3, 0, 0, 0, 0, 0,  0,
    },
    {
        0,   0, 0, 0, 0, 64,  95, 64, 216, 2, 0, 0, 0, 0,   0,  0,  0,  0, 0, 0, 0, 0, 83, 64,
        26,  3, 0, 0, 0, 0,   0,  0,  0,   0, 0, 0, 0, 64,  81, 64, 52, 0, 0, 0, 0, 0, 0,  0,
        0,   0, 0, 0, 0, 128, 74, 64, 12,  1, 0, 0, 0, 0,   0,  0,  0,  0, 0, 0, 0, 0, 83, 64,
        218, 1, 0, 0, 0, 0,   0,  0,  0,   0, 0, 0, 0, 128, 80, 64, 56, 3, 0, 0, 0, 0, 0,  0,
    }};
static const unsigned char window_compared[] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0,
};
static const unsigned char origin[1][161] = {{
    0,   0,   0,   0,   0,   64, 95,  64,  216, 2,   0,   0,   0,   0,   0,  0,   0,   0,
    0,   0,   0,   128, 66,  64, 57,  0,   0,   0,   0,   0,   0,   0,   36, 176, 124, 245,
    65,  216, 242, 20,  146, 14, 131, 48,  247, 186, 121, 145, 39,  4,   87, 80,  5,   166,
    111, 240, 2,   46,  21,  99, 166, 65,  226, 244, 0,   0,   0,   0,   0,  128, 66,  64,
    231, 1,   0,   0,   0,   0,  0,   0,   0,   0,   0,   0,   0,   128, 74, 64,  249, 1,
    0,   0,   0,   0,   0,   0,  238, 120, 78,  140, 195, 179, 123, 3,   82, 148, 154, 61,
    201, 58,  255, 62,  52,  24, 230, 18,  192, 54,  234, 18,  174, 83,  80, 206, 108, 173,
    158, 41,  0,   0,   0,   0,  0,   0,   83,  64,  218, 1,   0,   0,   0,  0,   0,   0,
    0,   0,   0,   0,   0,   0,  61,  64,  18,  2,   0,   0,   0,   0,   0,  0,
}};
static const unsigned char result[1][161] = {{
    141, 219, 95,  84,  128, 103, 199, 168, 0,   161, 183, 47,  139, 217, 67,  85,  247, 95,
    16,  244, 126, 28,  12,  241, 146, 127, 108, 68,  123, 234, 186, 83,  178, 6,   37,  202,
    192, 32,  171, 160, 107, 87,  151, 129, 212, 106, 246, 177, 248, 29,  24,  227, 160, 151,
    202, 155, 139, 85,  151, 175, 18,  40,  144, 44,  163, 116, 49,  106, 212, 59,  170, 13,
    43,  125, 230, 176, 206, 144, 214, 247, 159, 142, 159, 167, 235, 10,  34,  160, 30,  63,
    69,  228, 53,  68,  69,  118, 105, 137, 48,  138, 84,  217, 84,  50,  115, 14,  143, 15,
    85,  120, 105, 219, 150, 193, 104, 220, 250, 204, 227, 166, 203, 70,  160, 94,  239, 57,
    186, 122, 80,  202, 71,  135, 2,   58,  192, 198, 230, 210, 87,  119, 198, 199, 199, 176,
    26,  189, 186, 90,  74,  157, 221, 243, 23,  235, 15,  80,  8,   243, 81,  191,
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
        MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memories[w], &wins[w]);
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
        MPI_Type_dup(MPI_DOUBLE_INT, &t0);
        MPI_Datatype t1;
        MPI_Type_vector(3, 2, 4, t0, &t1);
        MPI_Datatype t2;
        MPI_Type_dup(MPI_DOUBLE_INT, &t2);
        MPI_Datatype here_type = t1, there_type = t2;
        MPI_Type_commit(&here_type);
        MPI_Type_commit(&there_type);
        if (is_origin) {
            MPI_Win_lock_all(0, win);
            for (int i = 0; i < 1; i++) {
                const MPI_Aint here = 0 + i * 160L;
                const MPI_Aint there = base + 0 + i * 96L;
                MPI_Accumulate(from + here, COUNT, here_type, TARGET, there, 6, there_type,
                               MPI_MAXLOC, win);
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
