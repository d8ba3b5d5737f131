/* Open MPI 4.1.4 without shared memory: a put from a vector writes wrong bytes.
 *
 * call=put,operator=none,element=int8,count=3,layout_origin=vector,layout_target=indexed,flavor=create,synchronisation=lock_all_flush,outstanding=1,overlap=none,target=last,memory=every,window=exact,windows=1,datatypes=kept
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TARGET = 1, WINDOW_BYTES = 30, BUFFER_BYTES = 30, COUNT = 3, WINDOWS = 1 };
static const unsigned char window_bytes[2][31] = {
    {
        132, 182, 4,   192, 80,  24, 252, 150, 53, 110, 92,  234, 243, 221, 254,
        56,  78,  143, 221, 248, 92, 236, 47,  34, 78,  180, 188, 109, 81,  216,
    },
    {
        211, 165, 4,   192, 105, 231, 159, 150, 53, 223, 211, 199, 243, 221, 151,
        31,  187, 143, 221, 161, 51,  211, 47,  34, 143, 111, 215, 109, 81,  149,
    }};
static const unsigned char *const window_compared = NULL;
static const unsigned char origin[1][31] = {{
    223, 211, 81, 22, 165, 105, 190, 10,  231, 159, 161, 211, 106, 129, 199,
    151, 123, 71, 31, 187, 149, 51,  111, 48,  211, 143, 199, 167, 111, 215,
}};
static const unsigned char result[1][31] = {{
    127, 10,  173, 4,   77,  228, 17,  105, 140, 224, 213, 74,  219, 141, 95,
    234, 252, 211, 174, 133, 7,   242, 243, 240, 115, 164, 108, 230, 181, 10,
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
        MPI_Type_dup(MPI_INT8_T, &t0);
        MPI_Datatype t1;
        MPI_Type_vector(3, 2, 4, t0, &t1);
        MPI_Datatype t2;
        MPI_Type_dup(MPI_INT8_T, &t2);
        MPI_Datatype t3;
        const int n3[] = {1, 2, 3};
        const int at3[] = {9, 0, 4};
        MPI_Type_indexed(3, n3, at3, t2, &t3);
        MPI_Datatype here_type = t1, there_type = t3;
        MPI_Type_commit(&here_type);
        MPI_Type_commit(&there_type);
        if (is_origin) {
            MPI_Win_lock_all(0, win);
            for (int i = 0; i < 1; i++) {
                const MPI_Aint here = 0 + i * 30L;
                const MPI_Aint there = base + 0 + i * 30L;
                MPI_Put(from + here, COUNT, here_type, TARGET, there, 3, there_type, win);
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
