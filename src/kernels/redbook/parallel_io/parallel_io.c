/* Parallel input and output: how long do ranks take to write, or to read, a cube together?
 *
 * Source: Marcelo Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM
 * SG24-5611, 1999), section 6.5: each of eight tasks has a block of a cube of ints, and all tasks
 * write to one file: with a view of the file and a collective call (the source's example), with an
 * independent call, with a system call for each contiguous run, or through one task; or each task
 * writes a file of its own. Timed, in seconds, at each rank: a write until the file is closed,
 * because then every process that opens the file sees the data (MPI 4.1, 14.6.1; write(2)); a read
 * until the data are in memory. The open is timed separately, and so is the fsync after a write.
 * Verified: after a write the whole file, read at each rank by system calls; after a read each
 * value. Each sample has values of its own, and the file keeps the values of the sample before
 * until it is written. */
#include "mpi/trial.h"
#include "redbook/parallel_io/access.h"

/* ---- THE TIMED LOOPS ---- */

#define OWN_BLOCK 0, own->cube.block, own->cube.elements, MPI_INT32_T
#define THROUGH_MPI(call_)                                                                         \
    static void call_(struct access *own)                                                          \
    {                                                                                              \
        MPI_Status status;                                                                         \
        int code = MPI_SUCCESS;                                                                    \
        TRIED(code, MPI_File_##call_(own->file, OWN_BLOCK, &status));                              \
        access_ended(own, "MPI_File_" #call_, code, &status);                                      \
    }
/* Begin a call and wait for it at once. */
#define LATER_THROUGH_MPI(call_)                                                                   \
    static void call_(struct access *own)                                                          \
    {                                                                                              \
        MPI_Status status;                                                                         \
        MPI_Request request;                                                                       \
        int code = MPI_SUCCESS;                                                                    \
        TRIED(code, MPI_File_##call_(own->file, OWN_BLOCK, &request));                             \
        if (code == MPI_SUCCESS) {                                                                 \
            TRIED(code, MPI_Wait(&request, &status));                                              \
        }                                                                                          \
        access_ended(own, "MPI_File_" #call_, code, &status);                                      \
    }
THROUGH_MPI(write_at_all)
THROUGH_MPI(read_at_all)
THROUGH_MPI(write_at)
THROUGH_MPI(read_at)
LATER_THROUGH_MPI(iwrite_at)
LATER_THROUGH_MPI(iread_at)

#define RUN_BYTES ((long long)own->cube.run * (long long)sizeof(int32_t))
#define RUN_OFFSET (cube_place(&own->cube, run) * (long long)sizeof(int32_t))

static void write_runs(struct access *own)
{
    int error = 0;
    for (int run = 0; error == 0 && run < own->cube.elements; run += own->cube.run) {
        error = storage_write(own->descriptor, own->cube.block + run, RUN_BYTES, RUN_OFFSET);
    }
    access_ended_with(own, "pwrite", error);
}

static void read_runs(struct access *own)
{
    int error = 0;
    for (int run = 0; error == 0 && run < own->cube.elements; run += own->cube.run) {
        error = storage_read(own->descriptor, own->cube.block + run, RUN_BYTES, RUN_OFFSET);
    }
    access_ended_with(own, "pread", error);
}

#define BLOCK_BYTES ((long long)own->cube.elements * (long long)sizeof(int32_t))

static void write_block(struct access *own)
{
    access_ended_with(own, "pwrite",
                      storage_write(own->descriptor, own->cube.block, BLOCK_BYTES, 0));
}

static void read_block(struct access *own)
{
    access_ended_with(own, "pread", storage_read(own->descriptor, own->cube.block, BLOCK_BYTES, 0));
}

static void gather_and_write(struct access *own)
{
    const struct cube *cube = &own->cube;
    MPI_Request request;
    CHECKED(
        MPI_Isend(cube->block, cube->elements, MPI_INT32_T, 0, 0, world_communicator, &request));
    if (own->launch->rank == 0) {
        for (int rank = 0; rank < own->launch->ranks; rank++) {
            CHECKED(MPI_Recv(cube->whole, 1, cube->views[rank], rank, 0, world_communicator,
                             MPI_STATUS_IGNORE));
        }
        access_ended_with(own, "pwrite",
                          storage_write(own->descriptor, cube->whole, cube_bytes(cube), 0));
    }
    CHECKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void read_and_scatter(struct access *own)
{
    const struct cube *cube = &own->cube;
    MPI_Request request;
    CHECKED(
        MPI_Irecv(cube->block, cube->elements, MPI_INT32_T, 0, 0, world_communicator, &request));
    if (own->launch->rank == 0) {
        access_ended_with(own, "pread",
                          storage_read(own->descriptor, cube->whole, cube_bytes(cube), 0));
        for (int rank = 0; rank < own->launch->ranks; rank++) {
            CHECKED(MPI_Send(cube->whole, 1, cube->views[rank], rank, 0, world_communicator));
        }
    }
    CHECKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

#define BY_VIEW .open = open_view, .close = close_view
#define BY_SYSTEM(open_) .open = (open_), .close = close_own

static const struct way ways[] = {
    {.name = "at_all", BY_VIEW, .write = write_at_all, .read = read_at_all},
    {.name = "at_all_darray",
     BY_VIEW,
     .write = write_at_all,
     .read = read_at_all,
     .by_darray = true},
    {.name = "at", BY_VIEW, .write = write_at, .read = read_at},
    {.name = "iat", BY_VIEW, .write = iwrite_at, .read = iread_at},
    {.name = "posix", BY_SYSTEM(open_each), .write = write_runs, .read = read_runs},
    {.name = "own_files",
     BY_SYSTEM(open_own),
     .write = write_block,
     .read = read_block,
     .own_files = true},
    {.name = "one_rank",
     BY_SYSTEM(open_first),
     .write = gather_and_write,
     .read = read_and_scatter},
};

static const struct direction {
    const char *name;
    bool reads;
} directions[] = {{"write", false}, {"read", true}};

static const struct cut cuts[] = {{"cubes", true}, {"slabs", false}};

static const struct axis axes[] = {
    CHOICE_AXIS("direction", "write or read", "write,read", directions),
    CHOICE_AXIS("way", "the calls that the cube is written or read by",
                "at_all,at_all_darray,at,iat,posix,own_files,one_rank", ways),
    STORAGE_AXIS("disk"),
    CHOICE_AXIS("blocks", "how the cube is cut: in all dimensions, or in the slowest of the file",
                "cubes", cuts),
    INTEGER_AXIS("side", "of the cube, in ints", "16", 1, 512),
};

static const struct option options[] = {TRIAL_OPTIONS("1", "10", "0.05"), STORAGE_OPTIONS};

static double go(void *state, long long burst)
{
    struct access *own = state;
    (void)burst;
    if (own->is_over) {
        return 0;
    }
    const double begin_s = clock_now_s();
    (own->reads ? own->way->read : own->way->write)(own);
    if (!own->reads) {
        own->way->close(own);
    }
    return clock_now_s() - begin_s;
}

/* Record how many system calls a rank makes, if the program itself makes them. */
static void record_requests(const struct access *own)
{
    if (own->way->write == write_runs) {
        series_add(record_series(own->record, "requests", "count", 1),
                   own->cube.elements / own->cube.run);
    }
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct direction *direction = cell_choice(cell, "direction");
    struct access own = {.launch = launch,
                         .cell = cell,
                         .record = record,
                         .way = cell_choice(cell, "way"),
                         .reads = direction->reads};
    if (!cube_open(&own.cube, launch, cell, record, own.way->by_darray)) {
        return;
    }
    if (storage_open(&own.stored, launch, cell, record, cube_bytes(&own.cube), -1)) {
        const struct trial trial = {.launch = launch,
                                    .cell = cell,
                                    .record = record,
                                    .state = &own,
                                    .longest = 1,
                                    .prepare = access_prepare,
                                    .go = go,
                                    .check = access_check,
                                    .time = "time",
                                    .keep = access_keep};
        trial_run(&trial);
        access_remove(&own);
        storage_close(&own.stored, launch);
        if (own.is_over) {
            record_drop_series(record);
        } else {
            record_requests(&own);
            storage_record(&own.stored, launch, record);
            record_verification(record, own.reads ? own.cube.blocks : own.cube.file);
        }
    }
    cube_close(&own.cube);
}

KERNEL("parallel_io", "time in which ranks write or read a cube of ints", .run_cell = run_cell)
