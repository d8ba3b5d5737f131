/* A launch: start the library, write the header, run the cells of a kernel one by one, finish. */
#ifndef ONESIDED_LAUNCH_H
#define ONESIDED_LAUNCH_H

#include <stdbool.h>

#include "harness/cells.h"
#include "harness/clock.h"
#include "harness/common_clock.h"
#include "harness/compute.h"
#include "harness/host.h"
#include "harness/options.h"
#include "harness/record.h"
#include "harness/thread_level.h"

enum exit_code { EXIT_COMPLETE = 0, EXIT_WRONG_DATA = 3, EXIT_UNSUPPORTED = 4 };

struct launch {
    const struct kernel *kernel;
    int argument_count;
    char **arguments;
    struct options options;
    struct grid grid;
    int rank;
    int ranks;
    enum thread_level thread_required;
    enum thread_level thread_provided;
    struct host_facts host;
    struct clock_facts clock;
    bool clock_is_global; /* stamps of different ranks can be compared */
    struct compute compute;
    int busy_threads; /* threads of the library in this process that need a core all the time */
    int descriptor;   /* of the lines; rank 0 */
};

/* An experiment: what a file src/kernels/<name>.c declares. */
struct kernel {
    const char *name;
    const char *source_state; /* of its own and of shared sources; the build computes it */
    const char *summary;      /* one line for --help */
    const struct axis *axes;
    size_t axis_count;
    const struct option *options;
    size_t option_count;
    /* Run one cell on all ranks: time, verify, and leave what was found in the record. */
    void (*run_cell)(struct launch *launch, const struct cell *cell, struct record *record);
    /* Take further samples of a cell that ended well in this launch, between and after other cells,
     * and return true. Return false on all ranks if the cell has none. NULL if `passes` is. */
    bool (*run_again)(struct launch *launch, const struct cell *cell, struct record *record);
    bool runs_alone;    /* runs with one rank, too, if --ranks 1 asks for it */
    const char *passes; /* the option that says how often a cell is run again, or NULL */
};

/* Whether several threads may call the library; if not, the cell is unsupported, and the record
 * says who needs the threads ("a helper thread needs"). The same on all ranks. */
bool threads_may_call(const struct launch *launch, struct record *record, const char *who_needs);

/* On one rank of each host: record for how long the hypervisor has taken CPUs since
 * machine_steal_s() returned since_s. */
void record_steal(const struct launch *launch, struct record *record, double since_s);

/* The whole of a kernel's main; returns its exit code. */
int launch_run(const struct kernel *kernel, int argument_count, char **arguments);

/* A kernel's main: its name, its summary, then further fields of struct kernel. Its tables are
 * called `axes` and `options`. */
#define KERNEL(name_, summary_, ...)                                                               \
    int main(int argument_count, char **arguments)                                                 \
    {                                                                                              \
        static const struct kernel kernel = {.name = (name_),                                      \
                                             .source_state = ONESIDED_SOURCE_STATE,                \
                                             .summary = (summary_),                                \
                                             .axes = axes,                                         \
                                             .axis_count = sizeof axes / sizeof axes[0],           \
                                             .options = options,                                   \
                                             .option_count = sizeof options / sizeof options[0],   \
                                             __VA_ARGS__};                                         \
        return launch_run(&kernel, argument_count, arguments);                                     \
    }

#endif
