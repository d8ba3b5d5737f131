/* A launch: start MPI, write the header, run the cells of a kernel one by one, finish. */
#include "harness/launch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/header.h"
#include "harness/join.h"
#include "harness/lines.h"
#include "harness/memory.h"
#include "harness/watchdog.h"

#define CLOCK_ROUNDS 20
#define SLOW_FACTOR 3.0

static const struct option launch_options[] = {
    {"output", "FILE", "append JSON lines here; without it they go to standard output", OPTION_TEXT,
     NULL, 0, 0},
    {"missing", NULL, "run only the cells that have neither a result nor a start in FILE",
     OPTION_FLAG, NULL, 0, 0},
    {"list-cells", NULL, "print the ids of the cells asked for, without MPI, and end", OPTION_FLAG,
     NULL, 0, 0},
    {"cells", "BLOCK", "\"axis=v,v;axis=v\": a block of cells; repeat it for a union of blocks",
     OPTION_REPEATED, NULL, 0, 0},
    {"thread-level", "single|funneled|serialized|multiple", "thread level to require of MPI",
     OPTION_CHOICE, ONESIDED_THREAD_LEVEL, 0, 0},
    {"placement", "unbound|core", "placement the launcher was asked for; recorded", OPTION_CHOICE,
     "unbound", 0, 0},
    {"ranks", "N", "ranks the launcher was asked for; a world of another size runs no cell",
     OPTION_INTEGER, NULL, 1, 1 << 20},
    {"label", "KEY=VALUE", "a label to record in the header; repeatable", OPTION_REPEATED, NULL, 0,
     0},
    {"cell-timeout-s", "SECONDS", "the watchdog ends a cell that takes longer", OPTION_NUMBER, "60",
     0.1, 86400},
    {"seed", "N", "seed of everything random", OPTION_INTEGER, "1", 0, 9007199254740992},
    {"inject", "KIND@INDEX",
     "for tests: wrong_data, crash, fault, error, fatal, hang, slow or shared in the cell with "
     "this index",
     OPTION_TEXT, NULL, 0, 0},
};
#define LAUNCH_OPTIONS (sizeof launch_options / sizeof launch_options[0])

/* For kernels that can print one. */
static const struct option table_option = {
    "table",
    NULL,
    "print a table for a person; without --output, instead of the lines",
    OPTION_FLAG,
    NULL,
    0,
    0};

static const struct {
    const char *name;
    int level;
} thread_levels[] = {{"single", MPI_THREAD_SINGLE},
                     {"funneled", MPI_THREAD_FUNNELED},
                     {"serialized", MPI_THREAD_SERIALIZED},
                     {"multiple", MPI_THREAD_MULTIPLE}};
#define THREAD_LEVELS (sizeof thread_levels / sizeof thread_levels[0])

const char *thread_level_name(int level)
{
    for (size_t i = 0; i < THREAD_LEVELS; i++) {
        if (thread_levels[i].level == level) {
            return thread_levels[i].name;
        }
    }
    return NULL;
}

static int thread_level_named(const char *name)
{
    size_t i = 0;
    while (strcmp(thread_levels[i].name, name) != 0) {
        i++; /* the option's check has let no other name through */
    }
    return thread_levels[i].level;
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

static void read_injection(struct launch *launch)
{
    static const char *const kinds[] = {"",      "wrong_data", "crash", "fault", "error",
                                        "fatal", "hang",       "slow",  "shared"};
    const char *text = options_text(&launch->options, "inject");
    if (text == NULL) {
        return;
    }
    const size_t length = strcspn(text, "@");
    for (size_t i = 1; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strlen(kinds[i]) == length && strncmp(kinds[i], text, length) == 0) {
            launch->injection = (enum injection)i;
        }
    }
    if (launch->injection == INJECT_NOTHING || text[length] == '\0' ||
        !parse_integer(text + length + 1, 0, (double)launch->grid.count - 1,
                       &launch->injected_cell)) {
        usage_fault(launch->kernel->name, "--inject", text,
                    "wrong_data, crash, fault, error, fatal, hang, slow or shared, then @ and the "
                    "index of a cell");
    }
}

bool launch_injects(const struct launch *launch, const struct cell *cell, enum injection kind)
{
    return launch->injection == kind && launch->injected_cell == (long long)cell->index;
}

double launch_slowed(const struct launch *launch, const struct cell *cell, double begin_s)
{
    double end_s = clock_now_s();
    if (launch_injects(launch, cell, INJECT_SLOW)) {
        const double slow_s = begin_s + SLOW_FACTOR * (end_s - begin_s);
        while ((end_s = clock_now_s()) < slow_s) {
        }
    }
    return end_s;
}

/* As a library dies: a load from where nothing is. */
static void fault(void)
{
    const volatile int *const volatile nowhere = (const volatile int *)sysconf(_SC_PAGESIZE);
    (void)*nowhere;
}

/* An error of MPI, returned or (as of a user who did not ask to have it returned) fatal. */
static void err(MPI_Errhandler handler)
{
    const int number = 0;
    CHECKED(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
    CHECKED(MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_SELF)); /* which has one rank, 0 */
}

void launch_inject(const struct launch *launch, const struct cell *cell)
{
    const bool is_last = launch->rank == launch->ranks - 1;
    if (is_last && launch_injects(launch, cell, INJECT_CRASH)) {
        abort();
    }
    if (is_last && launch_injects(launch, cell, INJECT_FAULT)) {
        fault();
    }
    if (is_last && launch_injects(launch, cell, INJECT_ERROR)) {
        err(MPI_ERRORS_RETURN);
    }
    if (is_last && launch_injects(launch, cell, INJECT_FATAL)) {
        err(MPI_ERRORS_ARE_FATAL);
    }
    while (launch_injects(launch, cell, INJECT_HANG) && launch->rank == 0) {
        pause();
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
    options_add(&launch->options, &table_option, kernel->print_row != NULL);
    options_parse(&launch->options, launch->argument_count, launch->arguments);
    launch->grid = grid_build(kernel->axes, kernel->axis_count, &launch->options);
    launch->table =
        kernel->print_row != NULL && (options_text(&launch->options, "output") == NULL ||
                                      options_flag(&launch->options, "table"));
    check_labels(&launch->options);
    if (options_flag(&launch->options, "missing") && !options_text(&launch->options, "output")) {
        usage_fault(kernel->name, "--missing", "no --output", "the file to look for cells in");
    }
    read_injection(launch);
    if (options_flag(&launch->options, "list-cells")) {
        for (size_t i = 0; first_of_launch() && i < launch->grid.count; i++) {
            puts(launch->grid.cells[i].id);
        }
        exit(EXIT_COMPLETE);
    }
}

static void start_mpi(struct launch *launch)
{
    launch->thread_required = thread_level_named(options_text(&launch->options, "thread-level"));
    watchdog_phase = "init";
    watchdog_open(launch->kernel->name, options_text(&launch->options, "output"),
                  rank_of_launcher());
    CHECKED(MPI_Init_thread(NULL, NULL, launch->thread_required, &launch->thread_provided));
    CHECKED(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECKED(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECKED(MPI_Comm_dup(MPI_COMM_WORLD, &launch->communicator));
    CHECKED(MPI_Comm_set_errhandler(launch->communicator, MPI_ERRORS_RETURN));
    CHECKED(MPI_Comm_rank(launch->communicator, &launch->rank));
    CHECKED(MPI_Comm_size(launch->communicator, &launch->ranks));
    watchdog_arm(launch->rank, options_number(&launch->options, "cell-timeout-s"));
    watchdog_cell(NULL);
}

/* Rank 0 opens the file; true on all ranks if it could. */
static bool open_output(struct launch *launch)
{
    const char *path = options_text(&launch->options, "output");
    int opened = 1;
    if (launch->rank == 0) {
        launch->descriptor = lines_open(path == NULL && launch->table ? "/dev/null" : path);
        opened = launch->descriptor >= 0;
        if (!opened) {
            fprintf(stderr, "%s: --output: found %s (%s); expected a file that can be written\n",
                    launch->kernel->name, path, strerror(errno));
        }
    }
    CHECKED(MPI_Bcast(&opened, 1, MPI_INT, 0, launch->communicator));
    return opened;
}

static void append_line(struct launch *launch, struct json *line)
{
    if (!lines_append(launch->descriptor, line)) {
        fprintf(stderr, "%s: --output: cannot be written: %s\n", launch->kernel->name,
                strerror(errno));
        watchdog_abort();
    }
}

/* Exchange stamps with rank `other`; rank 0 returns whether its stamp ever fell outside ours. */
static bool stamps_agree(const struct launch *launch, int other)
{
    bool agree = true;
    for (int round = 0; round < CLOCK_ROUNDS; round++) {
        double stamp_s = 0;
        if (launch->rank == other) {
            CHECKED(
                MPI_Recv(&stamp_s, 1, MPI_DOUBLE, 0, 0, launch->communicator, MPI_STATUS_IGNORE));
            stamp_s = clock_now_s();
            CHECKED(MPI_Send(&stamp_s, 1, MPI_DOUBLE, 0, 0, launch->communicator));
        } else if (launch->rank == 0) {
            const double before_s = clock_now_s();
            CHECKED(MPI_Send(&stamp_s, 1, MPI_DOUBLE, other, 0, launch->communicator));
            CHECKED(MPI_Recv(&stamp_s, 1, MPI_DOUBLE, other, 0, launch->communicator,
                             MPI_STATUS_IGNORE));
            agree = agree && before_s <= stamp_s && stamp_s <= clock_now_s();
        }
    }
    return agree;
}

/* One machine has one CLOCK_MONOTONIC, whatever its hosts are called, unless a time namespace
 * shifts it: so it is tried, too. */
static bool clock_is_global(const struct launch *launch)
{
    int global = host_machines(&launch->host) == 1;
    for (int other = 1; other < launch->ranks && global; other++) {
        if (!stamps_agree(launch, other)) {
            global = 0;
        }
        CHECKED(MPI_Bcast(&global, 1, MPI_INT, 0, launch->communicator));
    }
    return global;
}

/* Learn what the header tells and the cells need. */
static void measure_launch(struct launch *launch)
{
    launch->host = host_collect(launch->communicator);
    int64_t origin_s = (int64_t)clock_whole_seconds();
    CHECKED(MPI_Bcast(&origin_s, 1, MPI_INT64_T, 0, launch->communicator));
    clock_origin_s = (time_t)origin_s;
    launch->clock = clock_measure();
    launch->clock_is_global = clock_is_global(launch);
    CHECKED(MPI_Barrier(launch->communicator));
    compute_calibrate(&launch->compute);
}

double launch_common_start(const struct launch *launch)
{
    CHECKED(MPI_Barrier(launch->communicator));
    double start_s = clock_now_s();
    if (launch->clock_is_global) {
        CHECKED(MPI_Bcast(&start_s, 1, MPI_DOUBLE, 0, launch->communicator));
    }
    CHECKED(MPI_Barrier(launch->communicator));
    return start_s;
}

/* Collective: do the ranks, with the helpers that the cell had on each, outnumber the cores? */
static bool cell_oversubscribed(const struct launch *launch, const struct record *record)
{
    int *helpers = allocate((size_t)launch->ranks, sizeof helpers[0]);
    CHECKED(MPI_Allgather(&record->helper_threads, 1, MPI_INT, helpers, 1, MPI_INT,
                          launch->communicator));
    const bool oversubscribed = host_oversubscribed(&launch->host, helpers);
    free(helpers);
    return oversubscribed;
}

/* What every line of a cell that was run begins with, and what it ends with. */
static void begin_cell_line(struct json *line, const char *type, const struct cell *cell)
{
    json_open(line, '{');
    json_key_text(line, "type", type);
    json_key_text(line, "cell", cell->id);
    json_key_integer(line, "index", (long long)cell->index);
}

static void write_status(struct json *line, const struct record *record)
{
    json_key_text(line, "status", status_name(record->status));
    json_key_text(line, "detail", record->detail[0] == '\0' ? NULL : record->detail);
}

/* Collective. */
static void end_cell_line(struct launch *launch, struct json *line, const struct record *record)
{
    json_key(line, "series");
    json_open(line, '[');
    join_series(launch, record, line);
    json_close(line, ']');
    json_key(line, "verification");
    record_write_verifications(line, record);
    json_close(line, '}');
    if (launch->rank == 0) {
        append_line(launch, line);
    }
    json_free(line);
}

static void append_started(struct launch *launch, const struct cell *cell)
{
    struct json line = {0};
    begin_cell_line(&line, "started", cell);
    json_close(&line, '}');
    append_line(launch, &line);
}

/* Collective: agree that the cell is over, then rank 0 appends its result. */
static void append_result(struct launch *launch, const struct cell *cell, struct record *record,
                          double started_s)
{
    struct json line = {0};
    watchdog_phase = "agree";
    join_verifications(launch, record);
    join_status(launch, record);
    begin_cell_line(&line, "result", cell);
    json_key(&line, "labels");
    cell_write_labels(&line, cell);
    write_status(&line, record);
    json_key(&line, "window");
    record_write_window(&line, record);
    json_key_boolean(&line, "oversubscribed", cell_oversubscribed(launch, record));
    json_key_number(&line, "elapsed_s", clock_now_s() - started_s);
    end_cell_line(launch, &line, record);
}

/* Collective: what a cell that is over left when it was run again. */
static void append_further(struct launch *launch, const struct cell *cell, struct record *record)
{
    struct json line = {0};
    watchdog_phase = "agree";
    join_verifications(launch, record);
    join_status(launch, record);
    begin_cell_line(&line, "further", cell);
    write_status(&line, record);
    end_cell_line(launch, &line, record);
}

/* Run one cell on all ranks; return its status. */
static enum cell_status run_cell(struct launch *launch, const struct cell *cell)
{
    struct record record = {.window.size_bytes = -1};
    const double started_s = clock_now_s();
    watchdog_phase = "start";
    watchdog_cell(cell->id);
    if (launch->rank == 0) {
        append_started(launch, cell);
    }
    /* Nobody begins before the line is there: a crash is booked to the cell that it came in. */
    CHECKED(MPI_Barrier(launch->communicator));
    launch->kernel->run_cell(launch, cell, &record);
    append_result(launch, cell, &record, started_s);
    const enum cell_status status = record.status;
    if (launch->table) {
        launch->kernel->print_row(launch, cell, &record);
    }
    record_free(&record);
    return status;
}

/* Run a cell once more; return the status of what was added. */
static enum cell_status run_again(struct launch *launch, const struct cell *cell)
{
    struct record record = {.window.size_bytes = -1};
    watchdog_phase = "start";
    watchdog_cell(cell->id);
    CHECKED(MPI_Barrier(launch->communicator));
    if (launch->kernel->run_again(launch, cell, &record)) {
        append_further(launch, cell, &record);
    }
    const enum cell_status status = record.status;
    record_free(&record);
    return status;
}

/* The cells of a launch that are to be run again. */
struct passes {
    struct launch *launch;
    long long most;
    long long *owed; /* by the cell's index: how often still */
    size_t stride;   /* cells between two runs of one */
    bool wrong;      /* a cell's data were */
};

/* Nobody reads further samples of a table alone. */
static struct passes passes_of(struct launch *launch)
{
    const char *option = launch->kernel->passes;
    const bool kept = !launch->table || options_text(&launch->options, "output") != NULL;
    const long long passes =
        option == NULL || !kept ? 0 : options_integer(&launch->options, option);
    return (struct passes){.launch = launch,
                           .most = passes,
                           .owed = allocate(launch->grid.count, sizeof(long long)),
                           .stride = 1 + launch->grid.count / (size_t)(passes + 1)};
}

static void pay(struct passes *passes, size_t cell)
{
    if (passes->owed[cell] > 0) {
        passes->owed[cell]--;
        if (run_again(passes->launch, &passes->launch->grid.cells[cell]) != CELL_OK) {
            passes->wrong = true;
            passes->owed[cell] = 0;
        }
    }
}

/* After a cell those some strides before it are run again, and after the last one all that are owed
 * some more: what the machine did to one moment is told from the cell by others, as far apart as a
 * launch allows. */
static void pay_before(struct passes *passes, size_t cell)
{
    for (size_t back = passes->stride; back <= cell; back += passes->stride) {
        pay(passes, cell - back);
    }
}

static void pay_all(struct passes *passes)
{
    bool paid = true;
    while (paid) {
        paid = false;
        for (size_t i = 0; i < passes->launch->grid.count; i++) {
            paid |= passes->owed[i] > 0;
            pay(passes, i);
        }
    }
}

/* Rank 0 reads which cells were tried before; all ranks learn it. */
static bool *tried_cells(const struct launch *launch)
{
    bool *tried = allocate(launch->grid.count, sizeof tried[0]);
    if (options_flag(&launch->options, "missing")) {
        if (launch->rank == 0) {
            lines_mark_tried(options_text(&launch->options, "output"), &launch->grid, tried);
        }
        CHECKED(MPI_Bcast(tried, (int)(launch->grid.count * sizeof tried[0]), MPI_BYTE, 0,
                          launch->communicator));
    }
    return tried;
}

static int run_cells(struct launch *launch)
{
    bool wrong = false;
    bool unsupported = false;
    bool *tried = tried_cells(launch);
    struct passes passes = passes_of(launch);
    for (size_t i = 0; i < launch->grid.count; i++) {
        if (!tried[i]) {
            const enum cell_status status = run_cell(launch, &launch->grid.cells[i]);
            wrong |= status == CELL_WRONG_DATA;
            unsupported |= status == CELL_UNSUPPORTED;
            passes.owed[i] = status == CELL_OK ? passes.most : 0;
        }
        pay_before(&passes, i);
    }
    pay_all(&passes);
    wrong |= passes.wrong;
    free(passes.owed);
    free(tried);
    return wrong ? EXIT_WRONG_DATA : unsupported ? EXIT_UNSUPPORTED : EXIT_COMPLETE;
}

/* True if the world is the one that was asked for, and no kernel's own: two ranks at least. */
static bool world_is_right(const struct launch *launch)
{
    const bool is_told = options_text(&launch->options, "ranks") != NULL;
    return launch->ranks >= 2 &&
           (!is_told || launch->ranks == options_integer(&launch->options, "ranks"));
}

/* A launcher whose processes do not find each other makes several worlds: the header of one of them
 * proves it, and one of them says it. */
static void tell_wrong_world(const struct launch *launch)
{
    const char *asked = options_text(&launch->options, "ranks");
    fprintf(stderr,
            "%s: ranks: found %d in the world; expected %s, started by the launcher of this "
            "MPI\n",
            launch->kernel->name, launch->ranks, asked == NULL ? "2 or more" : asked);
}

static int run_launch(struct launch *launch)
{
    const bool is_right = world_is_right(launch);
    /* The other worlds leave quietly, as ranks do at a usage fault. */
    int is_mute = !is_right && !first_of_launch();
    CHECKED(MPI_Bcast(&is_mute, 1, MPI_INT, 0, launch->communicator));
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
        append_line(launch, &header);
    }
    json_free(&header);
    if (!is_right) {
        if (launch->rank == 0) {
            tell_wrong_world(launch);
        }
        return EXIT_UNSUPPORTED;
    }
    if (launch->table && launch->rank == 0) {
        launch->kernel->print_head(launch);
    }
    return run_cells(launch);
}

/* End MPI; the last line says that this, too, went well. */
static void finish(struct launch *launch, int code)
{
    struct json line = {0};
    watchdog_phase = "finalize";
    watchdog_cell(NULL);
    CHECKED(MPI_Comm_free(&launch->communicator));
    watchdog_call = "MPI_Finalize";
    const int finalized = MPI_Finalize();
    watchdog_close();
    const bool ran = launch->descriptor >= 0 && world_is_right(launch) && code != 2;
    if (launch->rank == 0 && ran && finalized == MPI_SUCCESS) {
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
    start_mpi(&launch);
    const int code = run_launch(&launch);
    finish(&launch, code);
    host_free(&launch.host);
    grid_free(&launch.grid);
    options_free(&launch.options);
    free(axis_table);
    /* One rank speaks for all: launchers end the others when one of them fails, and rank 0 may
     * still have a line to write. */
    return launch.rank == 0 ? code : EXIT_COMPLETE;
}
