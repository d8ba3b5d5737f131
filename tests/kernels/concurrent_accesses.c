/* Two ranks access one window at the same time, as Figure 1 of Dinan et al., "An implementation and
 * evaluation of the MPI 3.0 one-sided communication interface", permits in the unified model.
 *
 * concurrent_accesses FILE ENTRY..., on two ranks that share memory. An entry is three words with
 * colons between: rank 0's access, rank 1's access (load, store, get, put, acc), and the distance
 * of their bytes in rank 0's part, 0 or 1. Each rank makes its access ACCESSES times, inside a
 * lock_all. A line of the file has the entry, the number of wrong values that were read, and the
 * number of wrong values at the end. The last line has the memory model of the window. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ACCESSES 2000
#define OWNER 0
#define BYTES 64

static const uint8_t before = 0x55, written[2] = {0x11, 0x22};
static MPI_Win window;
static volatile uint8_t *part; /* the owner's, as each rank sees it */

enum action { LOAD, STORE, GET, PUT, ACC, ACTIONS };
static const char *const names[ACTIONS] = {"load", "store", "get", "put", "acc"};

static bool reads(enum action action)
{
    return action == LOAD || action == GET;
}

/* One access to a byte; returns what was read, else 0. */
static uint8_t access_once(enum action action, MPI_Aint place, int turn)
{
    uint8_t value = action == ACC ? 1 : written[turn % 2];
    if (action == LOAD || action == STORE) {
        MPI_Win_sync(window);
        if (action == LOAD) {
            return part[place];
        }
        part[place] = value;
        MPI_Win_sync(window);
        return 0;
    }
    if (action == GET) {
        MPI_Get(&value, 1, MPI_UINT8_T, OWNER, place, 1, MPI_UINT8_T, window);
    } else if (action == PUT) {
        MPI_Put(&value, 1, MPI_UINT8_T, OWNER, place, 1, MPI_UINT8_T, window);
    } else {
        MPI_Accumulate(&value, 1, MPI_UINT8_T, OWNER, place, 1, MPI_UINT8_T, MPI_SUM, window);
    }
    MPI_Win_flush(OWNER, window);
    return action == GET ? value : 0;
}

/* Whether a byte that another rank may write at the same time can have this value. */
static bool can_be_read(uint8_t found, enum action other, int distance)
{
    if (distance > 0 || reads(other)) {
        return found == before;
    }
    return other == ACC || found == before || found == written[0] || found == written[1];
}

/* The value of a byte after all accesses of one rank, or of both. */
static uint8_t expected_after(enum action one, enum action other, int distance)
{
    const bool both = distance == 0 && one == ACC && other == ACC;
    if (distance == 0 && reads(one)) {
        one = other;
    }
    if (one == ACC) {
        return (uint8_t)(before + (both ? 2 : 1) * ACCESSES);
    }
    return one == STORE || one == PUT ? written[(ACCESSES - 1) % 2] : before;
}

static int wrong_values(const enum action *actions, int distance, int rank)
{
    const enum action own = actions[rank], other = actions[1 - rank];
    int wrong = 0, every = 0;
    memset((void *)part, before, BYTES);
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int turn = 0; turn < ACCESSES; turn++) {
        const uint8_t found = access_once(own, rank == 0 ? 0 : distance, turn);
        wrong += reads(own) && !can_be_read(found, other, distance);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    wrong += part[rank == 0 ? 0 : distance] != expected_after(own, other, distance);
    for (int i = distance + 1; i < BYTES; i++) {
        wrong += part[i] != before;
    }
    /* nobody writes for the next entry before both have looked */
    MPI_Allreduce(&wrong, &every, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return every;
}

static enum action named(const char *name)
{
    int action = 0;
    while (action < ACTIONS - 1 && strcmp(names[action], name) != 0) {
        action++;
    }
    return (enum action)action;
}

int main(int argc, char **argv)
{
    int rank, unit, *model, is_known;
    MPI_Aint bytes;
    void *begin;
    FILE *lines = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate_shared(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &begin, &window);
    MPI_Win_shared_query(window, OWNER, &bytes, &unit, &begin);
    MPI_Win_get_attr(window, MPI_WIN_MODEL, &model, &is_known);
    part = begin;
    if (rank == 0) {
        lines = fopen(argv[1], "w");
    }
    MPI_Win_lock_all(0, window);
    for (int i = 2; i < argc; i++) {
        char first[8], second[8];
        int distance;
        sscanf(argv[i], "%7[a-z]:%7[a-z]:%d", first, second, &distance);
        const enum action actions[2] = {named(first), named(second)};
        const int wrong = wrong_values(actions, distance, rank);
        if (rank == 0) {
            fprintf(lines, "%s: %d\n", argv[i], wrong);
        }
    }
    MPI_Win_unlock_all(window);
    if (rank == 0) {
        fprintf(lines, "model: %s\n", *model == MPI_WIN_UNIFIED ? "unified" : "separate");
        fclose(lines);
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
