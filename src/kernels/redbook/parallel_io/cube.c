/* A cube of ints: each rank has a block of it, and the file has the whole cube. */
#include "redbook/parallel_io/cube.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/memory.h"
#include "mpi/checked.h"
#include "mpi/world.h"

#define CHUNK_ELEMENTS (1LL << 18)

static long long all_elements(const struct cube *cube)
{
    return (long long)cube->side * cube->side * cube->side;
}

long long cube_bytes(const struct cube *cube)
{
    return all_elements(cube) * (long long)sizeof(int32_t);
}

/* MPI_Dims_create gives most ranks to its first dimension; here the last dimension gets most. */
static void share_out(struct cube *cube)
{
    int most_first[DIMENSIONS] = {0};
    CHECKED(MPI_Dims_create(cube->launch->ranks, DIMENSIONS, most_first));
    for (int i = 0; i < DIMENSIONS; i++) {
        cube->parts[i] = cube->cut->in_all ? most_first[DIMENSIONS - 1 - i]
                         : i == 0          ? cube->launch->ranks
                                           : 1;
    }
}

/* Where a part of a side begins. In MPI's distributed arrays all parts have one size, but the last
 * parts may be shorter or empty (MPI 4.1, 5.1.4). */
static int part_begin(const struct cube *cube, int dimension, int part)
{
    const int parts = cube->parts[dimension];
    const int begin = (cube->side + parts - 1) / parts * part;
    return !cube->by_darray     ? (int)((long long)cube->side * part / parts)
           : begin < cube->side ? begin
                                : cube->side;
}

/* A rank's block. */
static void find_block(const struct cube *cube, int rank, int begin[], int size[])
{
    for (int i = DIMENSIONS - 1; i >= 0; i--) {
        const int part = rank % cube->parts[i];
        rank /= cube->parts[i];
        begin[i] = part_begin(cube, i, part);
        size[i] = part_begin(cube, i, part + 1) - begin[i];
    }
}

static void make_views(struct cube *cube)
{
    const int sides[DIMENSIONS] = {cube->side, cube->side, cube->side};
    const int blocks[DIMENSIONS] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK,
                                    MPI_DISTRIBUTE_BLOCK};
    const int of_one_size[DIMENSIONS] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG,
                                         MPI_DISTRIBUTE_DFLT_DARG};
    cube->views = allocate((size_t)cube->launch->ranks, sizeof cube->views[0]);
    for (int rank = 0; rank < cube->launch->ranks; rank++) {
        int begin[DIMENSIONS], size[DIMENSIONS];
        find_block(cube, rank, begin, size);
        if (cube->by_darray) {
            CHECKED(MPI_Type_create_darray(cube->launch->ranks, rank, DIMENSIONS, sides, blocks,
                                           of_one_size, cube->parts, MPI_ORDER_C, MPI_INT32_T,
                                           &cube->views[rank]));
        } else {
            CHECKED(MPI_Type_create_subarray(DIMENSIONS, sides, size, begin, MPI_ORDER_C,
                                             MPI_INT32_T, &cube->views[rank]));
        }
        CHECKED(MPI_Type_commit(&cube->views[rank]));
    }
}

bool cube_open(struct cube *cube, const struct launch *launch, const struct cell *cell,
               struct record *record, bool by_darray)
{
    *cube = (struct cube){.launch = launch,
                          .cell = cell,
                          .by_darray = by_darray,
                          .cut = cell_choice(cell, "blocks"),
                          .side = (int)cell_number(cell, "side"),
                          .file = {.name = "file"},
                          .blocks = {.name = "blocks"}};
    share_out(cube);
    for (int i = 0; i < DIMENSIONS; i++) {
        if (cube->parts[i] > cube->side) {
            record_status(record, CELL_UNSUPPORTED, "a side of %d ints is cut into %d parts",
                          cube->side, cube->parts[i]);
            return false;
        }
    }
    find_block(cube, launch->rank, cube->begin, cube->size);
    cube->elements = cube->size[0] * cube->size[1] * cube->size[2];
    cube->run = cube->size[2];
    for (int i = DIMENSIONS - 1; i > 0 && cube->size[i] == cube->side; i--) {
        cube->run *= cube->size[i - 1];
    }
    cube->block = allocate_pages((size_t)cube->elements * sizeof cube->block[0]);
    cube->whole = launch->rank == 0 ? allocate_pages((size_t)cube_bytes(cube)) : NULL;
    make_views(cube);
    return true;
}

void cube_close(struct cube *cube)
{
    for (int rank = 0; rank < cube->launch->ranks; rank++) {
        CHECKED(MPI_Type_free(&cube->views[rank]));
    }
    free(cube->views);
    free(cube->block);
    free(cube->whole);
}

static long long place_in_block(const struct cube *cube, const int begin[], const int size[],
                                int element)
{
    const int fast = element % size[2], rest = element / size[2];
    const long long slow = begin[0] + rest / size[1];
    const long long middle = begin[1] + rest % size[1];
    return (slow * cube->side + middle) * cube->side + begin[2] + fast;
}

long long cube_place(const struct cube *cube, int element)
{
    return place_in_block(cube, cube->begin, cube->size, element);
}

static int32_t value_at(uint64_t sample, long long place)
{
    return (int32_t)value_of_sample(sample, (size_t)place);
}

void cube_fill(struct cube *cube)
{
    for (int i = 0; i < cube->elements; i++) {
        cube->block[i] = value_at(cube->sample, cube_place(cube, i));
    }
}

void cube_clear(struct cube *cube)
{
    memset(cube->block, 0, (size_t)cube->elements * sizeof cube->block[0]);
}

/* The elements of the chunk of the file that begins at `from`. */
static long long chunk(const struct cube *cube, long long from)
{
    const long long left = all_elements(cube) - from;
    return left < CHUNK_ELEMENTS ? left : CHUNK_ELEMENTS;
}

int cube_write_file(const struct cube *cube, const struct stored *stored)
{
    const int descriptor = open(stored->path, O_WRONLY | O_CLOEXEC);
    int32_t *values = allocate((size_t)CHUNK_ELEMENTS, sizeof values[0]);
    const long long last = all_elements(cube) - 1;
    int code = 0;
    for (long long from = 0; code == 0 && from <= last; from += CHUNK_ELEMENTS) {
        const long long count = chunk(cube, from);
        for (long long i = 0; i < count; i++) {
            values[i] = value_at(cube->sample, from + i);
        }
        code = storage_write(descriptor, values, count * (long long)sizeof values[0],
                             from * (long long)sizeof values[0]);
    }
    free(values);
    close(descriptor);
    return code;
}

void cube_check_file(struct cube *cube, const struct stored *stored)
{
    struct stat found = {.st_size = 0};
    const int descriptor = open(stored->path, O_RDONLY | O_CLOEXEC);
    int32_t *values = allocate((size_t)CHUNK_ELEMENTS, sizeof values[0]);
    const long long all = all_elements(cube);
    for (long long from = 0; from < all; from += CHUNK_ELEMENTS) {
        const long long count = chunk(cube, from);
        memset(values, 0, (size_t)count * sizeof values[0]);
        storage_read(descriptor, values, count * (long long)sizeof values[0],
                     from * (long long)sizeof values[0]);
        for (long long i = 0; i < count; i++) {
            verify_element(&cube->file, values[i], value_at(cube->sample, from + i),
                           (size_t)(from + i), cube->sample);
        }
    }
    fstat(descriptor, &found);
    verify_element(&cube->file, found.st_size, cube_bytes(cube), (size_t)all, cube->sample);
    free(values);
    close(descriptor);
}

/* Compare a rank's own file; return its bytes. */
static long long check_own_file(struct cube *cube, const struct stored *stored, int rank)
{
    struct stat found = {.st_size = 0};
    int begin[DIMENSIONS], size[DIMENSIONS];
    char path[PATH_MAX];
    find_block(cube, rank, begin, size);
    const int elements = size[0] * size[1] * size[2];
    int32_t *values = allocate((size_t)elements + 1, sizeof values[0]);
    cube_own_path(stored, rank, path);
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    storage_read(descriptor, values, elements * (long long)sizeof values[0], 0);
    for (int i = 0; i < elements; i++) {
        const long long place = place_in_block(cube, begin, size, i);
        verify_element(&cube->file, values[i], value_at(cube->sample, place), (size_t)place,
                       cube->sample);
    }
    fstat(descriptor, &found);
    free(values);
    close(descriptor);
    return found.st_size;
}

void cube_check_own_files(struct cube *cube, const struct stored *stored)
{
    long long bytes = 0;
    for (int rank = 0; rank < cube->launch->ranks; rank++) {
        bytes += check_own_file(cube, stored, rank);
    }
    verify_element(&cube->file, bytes, cube_bytes(cube), (size_t)all_elements(cube), cube->sample);
}

/* Files of dead launches are found by the name's beginning, without the rank (place.h). */
void cube_own_path(const struct stored *stored, int rank, char *path)
{
    if (snprintf(path, PATH_MAX, "%s-%d", stored->path, rank) >= PATH_MAX) {
        watchdog_failed("open", strerror(ENAMETOOLONG));
    }
}

void cube_check_block(struct cube *cube)
{
    for (int i = 0; i < cube->elements; i++) {
        const long long place = cube_place(cube, i);
        verify_element(&cube->blocks, cube->block[i], value_at(cube->sample, place), (size_t)place,
                       cube->sample);
    }
}
