/* The shared counter with OpenSHMEM: how long does a process wait for the next number while the
 * target computes, when one atomic operation takes it?
 *
 * After "Is MPI-2 suitable for quantum chemistry? Performance of passive target one-sided
 * communications", technical report, STFC, 2008, section 2, as shared_counter.c, whose cases
 * target_computes and target_idle these are: the report's numbers of SHMEM beside those of MPI.
 *
 * The counter is a symmetric variable of rank 0. Every rank (but rank 0 where it is idle) takes a
 * number with shmem_atomic_fetch_inc, computes, takes the next, until all tasks are taken.
 *
 * Timed, in seconds: each access, each compute, the last access (which finds no task).
 * Verified: the numbers that all ranks got are 0, 1, 2, ... each once, increasing on every rank;
 * the counter ends at the number of accesses.
 *
 * JSON lines of their own schema, for OpenSHMEM has not what a header of MPI tells. Everything is
 * written before shmem_finalize, which crashes in some libraries (Open MPI 4.1.4 does): rank 0 then
 * writes a line `teardown` with the signal in place of `finished`, and every rank ends with the
 * exit code that its data deserves: 0 complete, 2 usage, 3 wrong data. A launcher may still call an
 * end without finalize a failure; the lines decide. */
#include <fcntl.h>
#include <shmem.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/clock.h"
#include "harness/compute.h"
#include "harness/json.h"
#include "harness/lines.h"
#include "harness/memory.h"
#include "harness/options.h"
#include "harness/verification.h"

#define SCHEMA "onesided/openshmem_line/1"
#define TARGET 0
#define EXIT_WRONG_DATA 3
#define TASKS_PER_RANK_MAX 2000
/* Signals by which a library may die in its teardown. */
static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};

static const struct option option_table[] = {
    {"output", "FILE", "append JSON lines here; without it they go to standard output", OPTION_TEXT,
     NULL, 0, 0},
    {"tasks-per-rank", "N", "tasks in all: this many times the ranks that take any", OPTION_INTEGER,
     "5", 1, TASKS_PER_RANK_MAX},
    {"compute-ms", "MS", "length of a compute in milliseconds", OPTION_NUMBER, "10", 0, 3600000},
    {"inject-wrong-data", NULL, "for tests: the last rank forgets the first number it got",
     OPTION_FLAG, NULL, 0, 0},
};

struct experiment {
    struct options options;
    struct compute compute;
    int rank, ranks;
    int output;
    bool wrong_data;
};

/* What a rank brings home from a case, in symmetric memory: rank 0 fetches it. */
struct haul {
    int64_t count; /* numbers got; the last found no task */
    int64_t numbers[];
};

static const char *const case_names[] = {"target_computes", "target_idle"};
enum { TARGET_COMPUTES, TARGET_IDLE, CASES };

/* ---- The end: a teardown that crashes must not cost what was measured. ---- */

static volatile sig_atomic_t exit_code;
static volatile sig_atomic_t teardown_output = -1;

/* Only calls that a signal handler may make. */
static void end_in_teardown(int number)
{
    char line[] = "{\"type\":\"teardown\",\"call\":\"shmem_finalize\",\"signal\":00}\n";
    char *digits = strstr(line, "00}");
    digits[0] = (char)(number < 10 ? ' ' : '0' + number / 10);
    digits[1] = (char)('0' + number % 10);
    if (teardown_output >= 0 && write(teardown_output, line, sizeof line - 1) < 0) {
        _exit(EXIT_FAILURE);
    }
    _exit(exit_code);
}

/* After shmem_init, or the library's own handlers would take the place of these. */
static void survive_teardown(const struct experiment *experiment)
{
    struct sigaction action = {.sa_handler = end_in_teardown};
    exit_code = experiment->wrong_data ? EXIT_WRONG_DATA : EXIT_SUCCESS;
    teardown_output = experiment->rank == TARGET ? experiment->output : -1;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++) {
        sigaction(deadly[i], &action, NULL);
    }
}

/* ---- Lines ---- */

static void append(const struct experiment *experiment, struct json *line)
{
    if (!lines_append(experiment->output, line)) {
        perror("openshmem_counter: --output");
        shmem_global_exit(EXIT_FAILURE);
    }
}

static void write_header(const struct experiment *experiment)
{
    struct json line = {0};
    char vendor[SHMEM_MAX_NAME_LEN];
    int major = 0, minor = 0;
    char version[32];
    shmem_info_get_name(vendor);
    shmem_info_get_version(&major, &minor);
    snprintf(version, sizeof version, "%d.%d", major, minor);
    json_open(&line, '{');
    json_key_text(&line, "type", "header");
    json_key_text(&line, "schema", SCHEMA);
    json_key_text(&line, "kernel", "openshmem_counter");
    json_key_text(&line, "source_state", ONESIDED_SOURCE_STATE);
    json_key_text(&line, "library", vendor);
    json_key_text(&line, "standard_version", version);
    json_key_integer(&line, "ranks", experiment->ranks);
    json_key_integer(&line, "tasks_per_rank",
                     options_integer(&experiment->options, "tasks-per-rank"));
    json_key_number(&line, "compute_ms", options_number(&experiment->options, "compute-ms"));
    json_close(&line, '}');
    append(experiment, &line);
}

static void write_series(struct json *line, const char *metric, const double *samples,
                         int64_t count, int rank)
{
    json_open(line, '{');
    json_key_text(line, "metric", metric);
    json_key_text(line, "unit", "s");
    json_key_integer(line, "rank", rank);
    json_key(line, "samples");
    json_open(line, '[');
    for (int64_t i = 0; i < count; i++) {
        json_number(line, samples[i]);
    }
    json_close(line, ']');
    json_close(line, '}');
}

static void write_verification(struct json *line, const struct verification *found)
{
    json_open(line, '{');
    json_key_text(line, "name", found->name);
    json_key_integer(line, "checked", found->checked);
    json_key_integer(line, "errors", found->errors);
    json_key_text(line, "first_mismatch", found->errors > 0 ? found->first_mismatch : NULL);
    json_close(line, '}');
}

/* ---- One case ---- */

/* THE TIMED LOOP. A rank makes one access more than there are tasks at most, even if the counter is
 * broken. */
static void take_tasks(struct experiment *experiment, long long *counter, int64_t tasks,
                       struct haul *haul, double *access, double *compute)
{
    const double length_s = 1e-3 * options_number(&experiment->options, "compute-ms");
    for (int64_t done = 0; done <= tasks; done++) {
        const double begin_s = clock_now_s();
        const long long number = shmem_longlong_atomic_fetch_inc(counter, TARGET);
        access[done] = clock_now_s() - begin_s;
        haul->numbers[haul->count++] = number;
        if (number >= tasks) {
            break;
        }
        const struct compute_sample sample = compute_for(&experiment->compute, length_s);
        compute[done] = sample.end_s - sample.begin_s;
    }
}

/* Hold the numbers of all ranks against what they must be, and write the case's result. */
static void write_result(struct experiment *experiment, int which, const long long *counter,
                         struct haul *haul, double *access, double *compute, int64_t capacity)
{
    const size_t haul_bytes = sizeof *haul + (size_t)capacity * sizeof haul->numbers[0];
    struct haul *theirs = allocate(1, haul_bytes);
    double *times = allocate((size_t)capacity, sizeof times[0]);
    int *begins = allocate((size_t)experiment->ranks + 1, sizeof begins[0]);
    int64_t *all = allocate((size_t)(capacity * experiment->ranks), sizeof all[0]);
    struct json line = {0};
    json_open(&line, '{');
    json_key_text(&line, "type", "result");
    json_key_text(&line, "case", case_names[which]);
    json_key(&line, "series");
    json_open(&line, '[');
    for (int rank = 0; rank < experiment->ranks; rank++) {
        shmem_getmem(theirs, haul, haul_bytes, rank);
        const int64_t count = theirs->count;
        begins[rank + 1] = begins[rank] + (int)count;
        memcpy(all + begins[rank], theirs->numbers, (size_t)count * sizeof all[0]);
        if (count > 0) {
            shmem_getmem(times, access, (size_t)count * sizeof times[0], rank);
            write_series(&line, "access", times, count - 1, rank);
            write_series(&line, "last_access", times + count - 1, 1, rank);
            shmem_getmem(times, compute, (size_t)count * sizeof times[0], rank);
            write_series(&line, "compute", times, count - 1, rank);
        }
    }
    json_close(&line, ']');
    const struct verification found[] = {
        verify_sequence(all, begins, experiment->ranks),
        verify_exact("final_value", *counter, begins[experiment->ranks])};
    json_key(&line, "verification");
    json_open(&line, '[');
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
        write_verification(&line, &found[i]);
        experiment->wrong_data = experiment->wrong_data || found[i].errors > 0;
    }
    json_close(&line, ']');
    json_close(&line, '}');
    append(experiment, &line);
    free(theirs);
    free(times);
    free(begins);
    free(all);
}

static void run_case(struct experiment *experiment, int which)
{
    const bool target_idle = which == TARGET_IDLE && experiment->ranks > 1;
    const int64_t takers = experiment->ranks - target_idle;
    const int64_t tasks = options_integer(&experiment->options, "tasks-per-rank") * takers;
    const int64_t capacity = tasks + 1;
    long long *counter = shmem_calloc(1, sizeof *counter);
    struct haul *haul = shmem_calloc(1, sizeof *haul + (size_t)capacity * sizeof haul->numbers[0]);
    double *access = shmem_calloc((size_t)capacity, sizeof access[0]);
    double *compute = shmem_calloc((size_t)capacity, sizeof compute[0]);
    if (counter == NULL || haul == NULL || access == NULL || compute == NULL) {
        fputs("openshmem_counter: the symmetric heap is too small\n", stderr);
        shmem_global_exit(EXIT_FAILURE);
    }
    shmem_barrier_all();
    if (!target_idle || experiment->rank != TARGET) {
        take_tasks(experiment, counter, tasks, haul, access, compute);
    }
    shmem_barrier_all();
    if (options_flag(&experiment->options, "inject-wrong-data") &&
        experiment->rank == experiment->ranks - 1) {
        haul->count--;
        memmove(haul->numbers, haul->numbers + 1, (size_t)haul->count * sizeof haul->numbers[0]);
    }
    shmem_barrier_all();
    if (experiment->rank == TARGET) {
        write_result(experiment, which, counter, haul, access, compute, capacity);
    }
    shmem_barrier_all();
    shmem_free(compute);
    shmem_free(access);
    shmem_free(haul);
    shmem_free(counter);
}

/* All ranks learn what rank 0 found, for all end with the same exit code. */
static void share_verdict(struct experiment *experiment)
{
    int *verdict = shmem_calloc(1, sizeof *verdict);
    if (experiment->rank == TARGET) {
        *verdict = experiment->wrong_data;
    }
    shmem_barrier_all();
    experiment->wrong_data = shmem_int_g(verdict, TARGET) != 0;
    shmem_barrier_all();
    shmem_free(verdict);
}

static void run(struct experiment *experiment)
{
    if (experiment->rank == TARGET) {
        const char *path = options_text(&experiment->options, "output");
        experiment->output = lines_open(path);
        if (experiment->output < 0) {
            perror(path);
            shmem_global_exit(EXIT_FAILURE);
        }
        write_header(experiment);
    }
    shmem_barrier_all();
    compute_calibrate(&experiment->compute);
    for (int which = 0; which < CASES; which++) {
        run_case(experiment, which);
    }
    share_verdict(experiment);
}

int main(int argument_count, char **arguments)
{
    struct experiment experiment = {
        .options = {.program = "openshmem_counter",
                    .summary = "time to take a number from a shared counter of OpenSHMEM while its "
                               "target computes"},
        .output = -1};
    options_add(&experiment.options, option_table, sizeof option_table / sizeof option_table[0]);
    options_parse(&experiment.options, argument_count, arguments);
    clock_origin_s = clock_whole_seconds();
    shmem_init();
    experiment.rank = shmem_my_pe();
    experiment.ranks = shmem_n_pes();
    run(&experiment);
    survive_teardown(&experiment);
    shmem_finalize();
    if (experiment.rank == TARGET) {
        struct json line = {0};
        json_open(&line, '{');
        json_key_text(&line, "type", "finished");
        json_close(&line, '}');
        lines_append(experiment.output, &line);
    }
    options_free(&experiment.options);
    return exit_code;
}
