/* The cells of a launch, one by one: each leaves its lines. */
#include "harness/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/join.h"
#include "harness/lines.h"
#include "harness/memory.h"
#include "harness/watchdog.h"
#include "harness/world.h"

/* Collective: are the ranks and the cell's helpers together more than the cores? */
static bool cell_oversubscribed(const struct launch *launch, const struct record *record)
{
    int *helpers = allocate((size_t)launch->ranks, sizeof helpers[0]);
    world_gather(&record->helper_threads, helpers, sizeof helpers[0]);
    const bool oversubscribed = host_oversubscribed(&launch->host, helpers);
    free(helpers);
    return oversubscribed;
}

/* Every line of a cell that was run begins and ends with the same members. */
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
        lines_append_or_end(launch->kernel->name, launch->descriptor, line);
    }
    json_free(line);
}

static void append_started(struct launch *launch, const struct cell *cell)
{
    struct json line = {0};
    begin_cell_line(&line, "started", cell);
    json_close(&line, '}');
    lines_append_or_end(launch->kernel->name, launch->descriptor, &line);
}

/* Collective: agree that the cell is finished, then rank 0 appends its result. */
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
    if (record->storage.length > 0) {
        json_key(&line, "storage");
        json_raw(&line, record->storage.bytes, record->storage.length);
    }
    json_key_boolean(&line, "oversubscribed", cell_oversubscribed(launch, record));
    json_key_number(&line, "elapsed_s", clock_now_s() - started_s);
    end_cell_line(launch, &line, record);
}

/* Collective: append the samples of a finished cell that was run again. */
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
    /* No rank begins before the line is written, so that a crash counts for the right cell. */
    world_barrier();
    launch->kernel->run_cell(launch, cell, &record);
    append_result(launch, cell, &record, started_s);
    const enum cell_status status = record.status;
    record_free(&record);
    return status;
}

/* Run a cell once more; return the status of the further samples. */
static enum cell_status run_again(struct launch *launch, const struct cell *cell)
{
    struct record record = {.window.size_bytes = -1};
    watchdog_phase = "start";
    watchdog_cell(cell->id);
    world_barrier();
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
    long long *owed; /* by the cell's index: runs that are left */
    size_t stride;   /* cells between two runs of a cell */
    bool wrong;      /* the data of a cell were wrong */
};

static struct passes passes_of(struct launch *launch)
{
    const char *option = launch->kernel->passes;
    const long long passes = option == NULL ? 0 : options_integer(&launch->options, option);
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

/* After a cell, the cells that come one or more strides before it are run again; after the last
 * cell, all runs that are left. So the moments of a cell are as far apart as a launch allows, and
 * show which of them the machine disturbed. */
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

/* Rank 0 reads which cells were tried before, and tells all ranks. */
static bool *tried_cells(const struct launch *launch)
{
    bool *tried = allocate(launch->grid.count, sizeof tried[0]);
    if (options_flag(&launch->options, "missing")) {
        if (launch->rank == 0) {
            lines_mark_tried(options_text(&launch->options, "output"), &launch->grid, tried);
        }
        world_broadcast(tried, launch->grid.count * sizeof tried[0]);
    }
    return tried;
}

int run_cells(struct launch *launch)
{
    bool wrong = false;
    bool unsupported = false;
    bool *tried = tried_cells(launch);
    struct passes passes = passes_of(launch);
    if (!host_oversubscribed(&launch->host, NULL)) {
        watchdog_phase = "warm-up";
        world_warm_up();
    }
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
