/* The fault, its place, and the counted calls. */
#define _GNU_SOURCE
#include "fault.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 8192
#define ARGUMENTS_BYTES 65536
#define LAST_BYTES 65536
#define ANY "any"
enum { NO_CELL = -2, EVERY_CELL = -1 };

static const char *const names[FAULTS] = {
    [HANG] = "hang",
    [CRASH] = "crash",
    [ABORT] = "abort",
    [EXIT] = "exit",
    [ERROR] = "error",
    [FATAL] = "fatal",
    [DELAY] = "delay",
    [SLOW] = "slow",
    [FALSE_SUCCESS] = "false_success",
    [DROP] = "drop",
    [DUPLICATE] = "duplicate",
    [REORDER] = "reorder",
    [CORRUPT_ORIGIN] = "corrupt_origin",
    [CORRUPT_TARGET] = "corrupt_target",
    [WRONG_RESULT] = "wrong_result",
    [LOSE] = "lose",
    [STALE] = "stale",
    [ALTER] = "alter",
    [BLANK] = "blank",
    [IN_TURN] = "in_turn",
    [LOWER_LEVEL] = "lower_level",
    [FALSE_LEVEL] = "false_level",
    [ONE_RANK] = "one_rank",
    [MORE_RANKS] = "more_ranks",
};

static struct {
    enum fault fault;
    char call[256]; /* names with commas between */
    long count;
    long period;      /* 0: once; 1: each call */
    int is_here;      /* the fault concerns this rank */
    int is_of_others; /* it concerns only threads other than the main one */
    int rank;
    long cell; /* its index, EVERY_CELL, or NO_CELL for any cell */
    long seen; /* calls in this cell that may have the fault */
} wanted = {.cell = NO_CELL};

/* This rank's cell, and the file with its lines. */
static volatile long cell_now = NO_CELL;
long cells_begun;
static char output[4096];

static const struct call *first;

static int rank_of_launcher(void)
{
    static const char *const variables[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        if (getenv(variables[i]) != NULL) {
            return atoi(getenv(variables[i]));
        }
    }
    return 0;
}

/* The file named on the command line. */
static void find_output(void)
{
    static const char option[] = "--output";
    char arguments[ARGUMENTS_BYTES];
    const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    const ssize_t length = file < 0 ? 0 : read(file, arguments, sizeof arguments - 1);
    close(file);
    arguments[length > 0 ? length : 0] = '\0';
    for (const char *one = arguments; one < arguments + length; one += strlen(one) + 1) {
        if (strncmp(one, option, sizeof option - 1) == 0) {
            const char *end = one + sizeof option - 1;
            snprintf(output, sizeof output, "%s", end + 1); /* behind the "=", or the next one */
        }
    }
}

static int read_text(const char *text)
{
    char kind[32] = "", count[32] = "", rank[32] = "", cell[32] = "";
    const int words =
        sscanf(text, "%31s %255s %31s %31s %31s", kind, wanted.call, count, rank, cell);
    for (enum fault fault = NO_FAULT + 1; words >= 4 && fault < FAULTS; fault++) {
        wanted.fault = strcmp(names[fault], kind) == 0 ? fault : wanted.fault;
    }
    if (strcmp(count, "each") == 0) {
        strcpy(count, "1/1");
    }
    wanted.count = atol(count);
    wanted.period = strchr(count, '/') == NULL ? 0 : atol(strchr(count, '/') + 1);
    wanted.is_here = strcmp(rank, "all") == 0 || atoi(rank) == wanted.rank;
    wanted.is_of_others = strstr(rank, "/others") != NULL;
    wanted.cell = words < 5 ? NO_CELL : strcmp(cell, "every") == 0 ? EVERY_CELL : atol(cell);
    return wanted.fault != NO_FAULT;
}

__attribute__((constructor)) static void read_variables(void)
{
    const char *text = getenv("ONESIDED_FAULT");
    wanted.rank = rank_of_launcher();
    find_output();
    if (text != NULL && text[0] != '\0' && !read_text(text)) {
        fprintf(stderr, "ONESIDED_FAULT: found %s; expected KIND CALL COUNT RANK CELL\n", text);
        _exit(2);
    }
}

/* ---- Cells ---- */

/* The last line says that a cell was started, with its index, or that no cell is under way. */
static long cell_of_line(const char *line)
{
    const char *index = strstr(line, "\"index\":");
    const int is_started = strncmp(line, "{\"type\":\"started\"", 17) == 0;
    return is_started && index != NULL ? atol(index + strlen("\"index\":")) : NO_CELL;
}

static long cell_of_output(void)
{
    char lines[LAST_BYTES + 1];
    const int file = open(output, O_RDONLY | O_CLOEXEC);
    const off_t end = file < 0 ? 0 : lseek(file, 0, SEEK_END);
    const off_t begin = end > LAST_BYTES ? end - LAST_BYTES : 0;
    const ssize_t length = file < 0 ? 0 : pread(file, lines, LAST_BYTES, begin);
    close(file);
    if (length <= 0) {
        return NO_CELL;
    }
    lines[length - 1] = '\0'; /* the end of the last line */
    const char *before = strrchr(lines, '\n');
    return cell_of_line(before == NULL ? lines : before + 1);
}

void look_for_cell(void)
{
    const long before = cell_now;
    if (wanted.cell != NO_CELL && output[0] != '\0') {
        cell_now = cell_of_output();
        if (cell_now != before) {
            wanted.seen = 0;
            cells_begun++;
        }
    }
}

/* ---- Report ---- */

/* A line in one piece: ranks and threads write to the same file. */
void report(const char *line, size_t length)
{
    const char *path = getenv("ONESIDED_FAULT_REPORT");
    const int file =
        path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file >= 0) {
        if (write(file, line, length) != (ssize_t)length) {
            perror(path);
        }
        close(file);
    }
}

/* The kernel's own lines until now say which cell this is. */
static void report_fault(const struct call *call, const struct facts *facts)
{
    char line[512];
    struct stat status;
    if (getenv("ONESIDED_FAULT_REPORT") == NULL) {
        return;
    }
    const long long bytes = stat(output, &status) == 0 ? (long long)status.st_size : 0;
    const int length =
        snprintf(line, sizeof line,
                 "{\"type\":\"fault\",\"kind\":\"%s\",\"call\":\"%s\",\"count\":%ld,\"rank\":%d,"
                 "\"operation\":\"%s\",\"lines_bytes\":%lld}\n",
                 names[wanted.fault], call->name, wanted.count, wanted.rank,
                 facts == NULL ? "none" : facts->operation, bytes);
    report(line, (size_t)length);
}

static void report_counts(void)
{
    char line[LINE_BYTES];
    int length =
        snprintf(line, sizeof line, "{\"type\":\"counts\",\"rank\":%d,\"calls\":{", wanted.rank);
    for (const struct call *call = first; call != NULL; call = call->next) {
        length += snprintf(line + length, sizeof line - (size_t)length,
                           "%s\"%s\":[%ld,%ld,%ld,%ld]", call == first ? "" : ",", call->name,
                           call->calls, call->carrying, call->sending, call->getting);
    }
    length += snprintf(line + length, sizeof line - (size_t)length, "}}\n");
    report(line, (size_t)length);
}

int is_in_cell(void)
{
    return cell_now != NO_CELL;
}

static void remember(struct call *call)
{
    int is_known = 0;
    if (__atomic_compare_exchange_n(&call->is_known, &is_known, 1, 0, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST)) {
        do {
            call->next = __atomic_load_n(&first, __ATOMIC_SEQ_CST);
        } while (!__sync_bool_compare_and_swap(&first, call->next, call));
    }
}

static void wait_ms(long milliseconds)
{
    struct timespec rest = {.tv_sec = milliseconds / 1000,
                            .tv_nsec = milliseconds % 1000 * 1000000L};
    while (nanosleep(&rest, &rest) != 0) {
    }
}

static void spin_us(long microseconds)
{
    struct timespec begin, now;
    timespec_get(&begin, TIME_UTC);
    do {
        timespec_get(&now, TIME_UTC);
    } while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 <
             microseconds);
}

/* ---- The place of the fault ---- */

/* The call that a fault needs: any, one with data, one that sends data, or one that gets data. */
static int may_have(const struct facts *facts)
{
    const int sends = facts != NULL && facts->sends, gets = facts != NULL && facts->gets;
    switch (wanted.fault) {
    case DROP:
    case DUPLICATE:
    case REORDER:
    case LOSE:
    case STALE:
    case ALTER:
    case BLANK:
    case IN_TURN:
        return sends || gets;
    case CORRUPT_ORIGIN:
    case CORRUPT_TARGET:
        return sends;
    case WRONG_RESULT:
        return gets;
    default:
        return 1;
    }
}

static int is_among(const char *name, const char *names)
{
    const size_t length = strlen(name);
    for (const char *one = names; *one != '\0'; one += *one == ',') {
        const size_t own = strcspn(one, ",");
        if (own == length && strncmp(one, name, length) == 0) {
            return 1;
        }
        one += own;
    }
    return 0;
}

static int is_wanted(const struct call *call, const struct facts *facts)
{
    const int is_call = is_among(call->name, wanted.call) ||
                        (facts != NULL && facts->is_payload && is_among(ANY, wanted.call));
    const int is_cell = wanted.cell == NO_CELL || cell_now == wanted.cell ||
                        (wanted.cell == EVERY_CELL && cell_now != NO_CELL);
    const int is_thread = !wanted.is_of_others || gettid() != getpid();
    if (!wanted.is_here || !is_thread || !is_call || !is_cell || !may_have(facts)) {
        return 0;
    }
    /* several threads may call at once */
    const long seen = __atomic_add_fetch(&wanted.seen, 1, __ATOMIC_SEQ_CST);
    return wanted.period > 0 ? seen % wanted.period == wanted.count % wanted.period
                             : seen == wanted.count;
}

static void count(struct call *call, const struct facts *facts)
{
    const int sends = facts != NULL && facts->sends, gets = facts != NULL && facts->gets;
    __atomic_add_fetch(&call->calls, 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&call->carrying, sends || gets, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&call->sending, sends, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&call->getting, gets, __ATOMIC_SEQ_CST);
    remember(call);
}

__attribute__((noinline)) static void meet_nowhere(void)
{
    *(volatile int *)sizeof(int) = 0; /* no memory is there */
}

int may_be_stale(void)
{
    return wanted.fault == STALE || wanted.fault == IN_TURN;
}

enum fault arrive(struct call *call, const struct facts *facts)
{
    static const enum fault in_turn[] = {LOSE, STALE, ALTER};
    count(call, facts);
    if (facts != NULL && facts->is_last) {
        report_counts();
    }
    if (!is_wanted(call, facts)) {
        return NO_FAULT;
    }
    report_fault(call, facts);
    switch (wanted.fault) {
    case HANG:
        for (;;) {
            wait_ms(1000);
        }
    case CRASH:
        meet_nowhere();
        return NO_FAULT;
    case ABORT:
        abort();
    case EXIT:
        exit(7);
    case DELAY:
        wait_ms(DELAY_MS);
        return NO_FAULT;
    case SLOW:
        spin_us(SLOW_US);
        return NO_FAULT;
    case IN_TURN:
        return in_turn[cell_now % (sizeof in_turn / sizeof in_turn[0])];
    default:
        return wanted.fault;
    }
}
