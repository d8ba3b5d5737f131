/* call=rget,operator=none,element=int8,count=1,layout_origin=plain,layout_target=vector,flavor=allocate,synchronisation=lock_all_flush,outstanding=1,overlap=none,target=last,memory=every,window=roomy,windows=1,datatypes=kept
 *
 * mpicc rget_vector.c -o rget_vector && mpiexec -n 2 ./rget_vector
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TARGET = 1, WINDOW_BYTES = 138, BUFFER_BYTES = 134, COUNT = 6, WINDOWS = 1 };
static const unsigned char window_bytes[2][139] = {
    {
        66,  193, 246, 94,  255, 189, 59,  231, 135, 155, 240, 243, 229, 85,  132, 63,  143, 158,
        70,  172, 29,  126, 249, 80,  56,  167, 64,  187, 34,  178, 165, 241, 225, 131, 193, 138,
        162, 105, 184, 210, 206, 54,  195, 251, 109, 62,  221, 103, 39,  67,  234, 38,  88,  124,
        45,  210, 206, 232, 85,  224, 107, 64,  50,  244, 136, 190, 10,  212, 112, 220, 111, 214,
        98,  108, 202, 183, 194, 139, 60,  250, 133, 251, 36,  14,  69,  83,  119, 211, 115, 161,
        116, 71,  200, 134, 119, 7,   7,   146, 73,  212, 229, 53,  105, 28,  200, 49,  15,  14,
        255, 90,  74,  153, 166, 5,   122, 132, 74,  230, 62,  56,  118, 217, 222, 113, 55,  20,
        148, 171, 67,  163, 241, 176, 221, 217, 253, 180, 116, 235,
    },
    {
        66,  193, 246, 94,  255, 189, 59,  231, 135, 155, 240, 243, 229, 85,  132, 63,  143, 158,
        70,  172, 29,  126, 249, 80,  56,  167, 64,  187, 34,  178, 165, 241, 225, 131, 193, 138,
        162, 105, 184, 210, 206, 54,  195, 251, 109, 62,  221, 103, 39,  67,  234, 38,  88,  124,
        45,  210, 206, 232, 85,  224, 107, 64,  50,  244, 136, 190, 10,  212, 112, 220, 111, 214,
        98,  108, 202, 183, 194, 139, 60,  250, 133, 251, 36,  14,  69,  83,  119, 211, 115, 161,
        116, 71,  200, 134, 119, 7,   7,   146, 73,  212, 229, 53,  105, 28,  200, 49,  15,  14,
        255, 90,  74,  153, 166, 5,   122, 132, 74,  230, 62,  56,  118, 217, 222, 113, 55,  20,
        148, 171, 67,  163, 241, 176, 221, 217, 253, 180, 116, 235,
    }};
static const unsigned char *const window_compared = NULL;
static const unsigned char origin[1][135] = {{
    182, 216, 141, 225, 255, 76,  29,  247, 179, 30,  63,  146, 61,  30,  149, 61,  8,
    144, 157, 252, 101, 155, 223, 2,   181, 71,  14,  97,  249, 38,  11,  66,  143, 139,
    122, 44,  70,  244, 20,  11,  199, 234, 119, 206, 110, 219, 207, 54,  209, 179, 143,
    184, 91,  216, 7,   189, 133, 57,  61,  149, 131, 243, 94,  113, 143, 217, 101, 159,
    117, 9,   68,  32,  14,  227, 184, 203, 135, 73,  180, 8,   216, 21,  216, 204, 145,
    57,  179, 105, 199, 43,  148, 110, 49,  88,  73,  49,  239, 217, 63,  118, 196, 149,
    235, 61,  236, 92,  51,  41,  17,  118, 129, 163, 138, 134, 178, 120, 100, 164, 207,
    50,  37,  172, 104, 92,  190, 251, 238, 93,  137, 75,  217, 210, 232, 149,
}};
static const unsigned char result[1][135] = {{
    248, 87,  222, 50,  36,  186, 151, 101, 94,  229, 42,  125, 108, 90,  251, 229, 227,
    255, 5,   155, 194, 29,  91,  232, 29,  36,  158, 132, 12,  192, 106, 177, 80,  26,
    9,   150, 128, 6,   92,  26,  184, 22,  38,  164, 186, 31,  63,  97,  224, 155, 144,
    13,  189, 227, 66,  66,  251, 88,  250, 229, 73,  72,  193, 225, 69,  125, 253, 1,
    227, 228, 64,  77,  15,  202, 187, 193, 107, 13,  21,  201, 109, 112, 110, 223, 168,
    30,  210, 85,  58,  121, 15,  227, 48,  75,  118, 63,  192, 144, 21,  222, 15,  28,
    170, 26,  133, 182, 29,  4,   37,  25,  14,  185, 58,  222, 179, 153, 225, 208, 211,
    181, 113, 111, 147, 164, 94,  114, 201, 108, 3,   168, 17,  166, 96,  27,
}};
static const unsigned char fetched[1][135] = {{
    248, 87,  222, 50,  36,  186, 151, 101, 94,  229, 42,  125, 108, 90,  251, 229, 227,
    255, 5,   155, 194, 29,  91,  232, 29,  36,  158, 132, 12,  192, 106, 177, 80,  26,
    9,   150, 128, 6,   92,  26,  184, 22,  38,  164, 186, 31,  63,  97,  224, 155, 144,
    13,  189, 227, 66,  66,  251, 88,  250, 229, 73,  72,  193, 225, 136, 190, 112, 220,
    98,  108, 64,  77,  15,  202, 187, 193, 107, 13,  21,  201, 109, 112, 110, 223, 168,
    30,  210, 85,  58,  121, 15,  227, 48,  75,  118, 63,  192, 144, 21,  222, 15,  28,
    170, 26,  133, 182, 29,  4,   37,  25,  14,  185, 58,  222, 179, 153, 225, 208, 211,
    181, 113, 111, 147, 164, 94,  114, 201, 108, 3,   168, 17,  166, 96,  27,
}};
static const unsigned char *const fetched_compared = NULL;
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
        MPI_Type_dup(MPI_INT8_T, &t0);
        MPI_Datatype t1;
        MPI_Type_dup(MPI_INT8_T, &t1);
        MPI_Datatype t2;
        MPI_Type_vector(3, 2, 4, t1, &t2);
        MPI_Datatype here_type = t0, there_type = t2;
        MPI_Type_commit(&here_type);
        MPI_Type_commit(&there_type);
        static MPI_Request requests[1];
        if (is_origin) {
            MPI_Win_lock_all(0, win);
            for (int i = 0; i < 1; i++) {
                const MPI_Aint here = 64 + i * 6L;
                const MPI_Aint there = base + 64 + i * 10L;
                MPI_Rget(into + here, COUNT, here_type, TARGET, there, 1, there_type, win,
                         &requests[i]);
            }
            for (int i = 0; i < 1; i++) {
                MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
            }
            wrong += look("result", rank, into, fetched[mine], fetched_compared, BUFFER_BYTES);
            MPI_Win_flush(TARGET, win);
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
