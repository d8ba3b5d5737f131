/* A launch: start the library, write the header, run the cells of a kernel one by one, finish. */
#include "harness/launch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/describe.h"
#include "harness/header.h"
#include "harness/lines.h"
#include "harness/machine.h"
#include "harness/other_threads.h"
#include "harness/run.h"
#include "harness/watchdog.h"
#include "harness/world.h"

static const struct option launch_options[] = {
    {"output", "FILE", "append JSON lines here; without it they go to standard output", OPTION_TEXT,
     NULL, 0, 0},
    {"missing", NULL, "run only the cells that have neither a result nor a start in FILE",
     OPTION_FLAG, NULL, 0, 0},
    {"list-cells", NULL, "print the ids of the cells asked for, without a launcher, and end",
     OPTION_FLAG, NULL, 0, 0},
    {"describe", NULL, "print what the axes and options are, as JSON, without a launcher, and end",
     OPTION_FLAG, NULL, 0, 0},
    {"cells", "BLOCK", "\"axis=v,v;axis=v\": a block of cells; repeat it for a union of blocks",
     OPTION_REPEATED, NULL, 0, 0},
    {"thread-level", "single|funneled|serialized|multiple",
     "thread level to require of the library", OPTION_CHOICE, ONESIDED_THREAD_LEVEL, 0, 0},
    {"placement", "unbound|core|launcher",
     "placement the launcher was asked for; recorded (launcher: none)", OPTION_CHOICE, "unbound", 0,
     0},
    {"ranks", "N", "ranks the launcher was asked for; a world of another size runs no cell",
     OPTION_INTEGER, NULL, 1, 1 << 20},
    {"label", "KEY=VALUE", "a label to record in the header; repeatable", OPTION_REPEATED, NULL, 0,
     0},
    {"cell-timeout-s", "SECONDS", "the watchdog ends a cell that takes longer", OPTION_NUMBER, "60",
     0.1, 86400},
    {"seed", "N", "seed of everything random", OPTION_INTEGER, "1", 0, 9007199254740992},
};
#define LAUNCH_OPTIONS (sizeof launch_options / sizeof launch_options[0])

bool threads_may_call(const struct launch *launch, struct record *record, const char *who_needs)
{
    const bool may = launch->thread_provided >= THREAD_MULTIPLE;
    if (!may) {
        record_status(record, CELL_UNSUPPORTED, "%s MPI_THREAD_MULTIPLE: asked for %s, provided %s",
                      who_needs, thread_level_name(launch->thread_required),
                      thread_level_name(launch->thread_provided));
    }
    return may;
}

void record_steal(const struct launch *launch, struct record *record, double since_s)
{
    if (host_local_rank(&launch->host, launch->rank) == 0) {
        series_add(record_series(record, "steal", "s", 1), machine_steal_s() - since_s);
    }
}

static void check_labels(const struct options *options)
{
    const struct option_value *labels = options_list(options, "label");
    for (size_t i = 0; i < labels->count; i++) {
        const char *equals = strchr(labels->texts[i], '=');
        if (equals == NULL || equals == labels->texts[i]) {
            usage_fault(options->program, "--label", labels->texts[i], "KEY=VALUE");
        }
    }
}

/* Read the command line and build the grid; faults, --help and --list-cells end here. */
static void read_command_line(struct launch *launch, struct option *axis_table)
{
    const struct kernel *kernel = launch->kernel;
    launch->options.program = kernel->name;
    launch->options.summary = kernel->summary;
    options_add(&launch->options, axis_table, kernel->axis_count);
    options_add(&launch->options, kernel->options, kernel->option_count);
    options_add(&launch->options, launch_options, LAUNCH_OPTIONS);
    options_parse(&launch->options, launch->argument_count, launch->arguments);
    launch->grid = grid_build(kernel->axes, kernel->axis_count, &launch->options);
    check_labels(&launch->options);
    if (options_flag(&launch->options, "missing") && !options_text(&launch->options, "output")) {
        usage_fault(kernel->name, "--missing", "no --output", "the file to look for cells in");
    }
    if (options_flag(&launch->options, "describe")) {
        if (first_of_launch()) {
            describe(kernel, &launch->options);
        }
        exit(EXIT_COMPLETE);
    }
    if (options_flag(&launch->options, "list-cells")) {
        for (size_t i = 0; first_of_launch() && i < launch->grid.count; i++) {
            puts(launch->grid.cells[i].id);
        }
        exit(EXIT_COMPLETE);
    }
}

static void start_library(struct launch *launch)
{
    launch->thread_required = thread_level_named(options_text(&launch->options, "thread-level"));
    watchdog_phase = "init";
    watchdog_open(launch->kernel->name, options_text(&launch->options, "output"),
                  rank_of_launcher(), world_abort);
    launch->thread_provided = world_start(launch->thread_required);
    launch->rank = world_rank();
    launch->ranks = world_ranks();
    watchdog_arm(launch->rank, launch->ranks, options_number(&launch->options, "cell-timeout-s"));
    watchdog_cell(NULL);
}

/* Rank 0 opens the file; true on all ranks if it could. */
static bool open_output(struct launch *launch)
{
    const char *path = options_text(&launch->options, "output");
    int opened = 1;
    if (launch->rank == 0) {
        launch->descriptor = lines_open(path);
        opened = launch->descriptor >= 0;
        if (!opened) {
            fprintf(stderr, "%s: --output: found %s (%s); expected a file that can be written\n",
                    launch->kernel->name, path, strerror(errno));
        }
    }
    world_broadcast(&opened, sizeof opened);
    return opened;
}

/* Measure what the header reports and what the cells need. */
static void measure_launch(struct launch *launch)
{
    launch->host = host_collect();
    int64_t origin_s = (int64_t)clock_whole_seconds();
    world_broadcast(&origin_s, sizeof origin_s);
    clock_origin_s = (time_t)origin_s;
    launch->clock = clock_measure();
    launch->clock_is_global = clock_is_global(launch);
    world_barrier();
    const double begin_s = clock_now_s(), others_s = other_threads_s();
    compute_calibrate(&launch->compute);
    launch->busy_threads = other_threads_busy(others_s, clock_now_s() - begin_s);
}

/* True if the world has as many ranks as asked for: two at least, unless one rank makes sense. */
static bool world_is_right(const struct launch *launch)
{
    const bool is_told = options_text(&launch->options, "ranks") != NULL;
    const int fewest = is_told && launch->kernel->runs_alone ? 1 : 2;
    return launch->ranks >= fewest &&
           (!is_told || launch->ranks == options_integer(&launch->options, "ranks"));
}

/* If the processes of a launcher do not find each other, there are several worlds. Only one of
 * these worlds writes a header, which proves this, and a message. */
static void tell_wrong_world(const struct launch *launch)
{
    const char *asked = options_text(&launch->options, "ranks");
    fprintf(stderr,
            "%s: ranks: found %d in the world; expected %s, started by the launcher of this "
            "library\n",
            launch->kernel->name, launch->ranks, asked == NULL ? "2 or more" : asked);
}

static int run_launch(struct launch *launch)
{
    const bool is_right = world_is_right(launch);
    /* The other worlds leave without a message, as ranks do after a usage fault. */
    int is_mute = !is_right && !first_of_launch();
    world_broadcast(&is_mute, sizeof is_mute);
    if (is_mute) {
        return EXIT_COMPLETE;
    }
    if (!open_output(launch)) {
        return 2;
    }
    struct json header = {0};
    watchdog_phase = "calibration";
    measure_launch(launch);
    watchdog_phase = "header";
    header_write(&header, launch);
    if (launch->rank == 0) {
        lines_append_or_end(launch->kernel->name, launch->descriptor, &header);
    }
    json_free(&header);
    if (!is_right) {
        if (launch->rank == 0) {
            tell_wrong_world(launch);
        }
        return EXIT_UNSUPPORTED;
    }
    return run_cells(launch);
}

/* End the library; the last line says that the library has ended. */
static void finish(struct launch *launch, int code)
{
    struct json line = {0};
    watchdog_phase = "finalize";
    watchdog_cell(NULL);
    world_end();
    watchdog_close();
    const bool ran = launch->descriptor >= 0 && world_is_right(launch) && code != 2;
    if (launch->rank == 0 && ran) {
        json_open(&line, '{');
        json_key_text(&line, "type", "finished");
        json_close(&line, '}');
        if (!lines_append(launch->descriptor, &line)) {
            perror(launch->kernel->name);
        }
    }
}

int launch_run(const struct kernel *kernel, int argument_count, char **arguments)
{
    struct launch launch = {.kernel = kernel,
                            .argument_count = argument_count,
                            .arguments = arguments,
                            .descriptor = -1};
    struct option *axis_table = axis_options(kernel->axes, kernel->axis_count);
    read_command_line(&launch, axis_table);
    start_library(&launch);
    const int code = run_launch(&launch);
    finish(&launch, code);
    host_free(&launch.host);
    grid_free(&launch.grid);
    options_free(&launch.options);
    free(axis_table);
    /* Only rank 0 reports the code: launchers end all ranks when one of them fails, and rank 0 may
     * still have a line to write. */
    return launch.rank == 0 ? code : EXIT_COMPLETE;
}
