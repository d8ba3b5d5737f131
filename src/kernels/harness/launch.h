/* A launch: start MPI, write the header, run the cells of a kernel one by one, finish. */
#ifndef ONESIDED_LAUNCH_H
#define ONESIDED_LAUNCH_H

#include <mpi.h>
#include <stdbool.h>

#include "harness/cells.h"
#include "harness/clock.h"
#include "harness/compute.h"
#include "harness/host.h"
#include "harness/options.h"
#include "harness/record.h"

enum exit_code { EXIT_COMPLETE = 0, EXIT_WRONG_DATA = 3, EXIT_UNSUPPORTED = 4 };

/* For tests only: a fault put into one cell. */
enum injection {
    INJECT_NOTHING,
    INJECT_WRONG_DATA,
    INJECT_CRASH,
    INJECT_FAULT,
    INJECT_ERROR,
    INJECT_FATAL,
    INJECT_HANG,
    INJECT_SLOW,
    INJECT_SHARED
};

struct launch {
    const struct kernel *kernel;
    int argument_count;
    char **arguments;
    struct options options;
    struct grid grid;
    MPI_Comm communicator; /* a duplicate of the world that returns errors */
    int rank;
    int ranks;
    int thread_required;
    int thread_provided;
    struct host_facts host;
    struct clock_facts clock;
    bool clock_is_global; /* stamps of different ranks can be compared */
    struct compute compute;
    int descriptor; /* of the lines; rank 0 */
    bool table;     /* for a person, on standard output */
    enum injection injection;
    long long injected_cell;
};

/* An experiment: what a file src/kernels/<name>.c declares. */
struct kernel {
    const char *name;
    const char *summary; /* one line for --help */
    const struct axis *axes;
    size_t axis_count;
    const struct option *options;
    size_t option_count;
    /* Run one cell on all ranks: time, verify, and leave what was found in the record. */
    void (*run_cell)(struct launch *launch, const struct cell *cell, struct record *record);
    /* Take further samples of a cell that ended well in this launch, between and after other cells,
     * and return true; false, the same on all ranks: it has none. NULL where `passes` is. */
    bool (*run_again)(struct launch *launch, const struct cell *cell, struct record *record);
    const char *passes; /* the option that says how often a cell is run again, or NULL */
    /* A table for a person (--table; instead of the lines where there is no --output), or NULL:
     * what stands above it, on rank 0, and a row a cell, on all ranks. Both write to standard
     * output; nothing reads it. */
    void (*print_head)(const struct launch *launch);
    void (*print_row)(const struct launch *launch, const struct cell *cell,
                      const struct record *record);
};

/* The whole of a kernel's main; returns its exit code. */
int launch_run(const struct kernel *kernel, int argument_count, char **arguments);

/* Let all ranks begin together; return the cell's common start stamp (each rank's own where the
 * clock is not global). */
double launch_common_start(const struct launch *launch);

/* Commit the injected fault of this cell, if it has one; a kernel calls it where its timed section
 * begins. Rank 0 is the one that hangs, the last rank the one that crashes: by abort(), by a fault
 * of memory, or of an MPI error that is fatal. */
void launch_inject(const struct launch *launch, const struct cell *cell);
bool launch_injects(const struct launch *launch, const struct cell *cell, enum injection kind);

/* The end of what began at `begin_s`: now, or where INJECT_SLOW is asked for, once three times as
 * long is over. */
double launch_slowed(const struct launch *launch, const struct cell *cell, double begin_s);

const char *thread_level_name(int level);

#endif
