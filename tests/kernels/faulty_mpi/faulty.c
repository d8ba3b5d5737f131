/* Which fault is put in, where, and what has been counted. */
#define _GNU_SOURCE
#include "faulty.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 8192

static const char *const names[FAULTS] = {
    [HANG] = "hang",
    [CRASH] = "crash",
    [EXIT] = "exit",
    [ERROR] = "error",
    [DELAY] = "delay",
    [FALSE_SUCCESS] = "false_success",
    [DROP] = "drop",
    [DUPLICATE] = "duplicate",
    [REORDER] = "reorder",
    [CORRUPT_ORIGIN] = "corrupt_origin",
    [CORRUPT_TARGET] = "corrupt_target",
    [WRONG_RESULT] = "wrong_result",
    [LOWER_LEVEL] = "lower_level",
    [FALSE_LEVEL] = "false_level",
    [ONE_RANK] = "one_rank",
    [MORE_RANKS] = "more_ranks",
};

static struct {
    enum fault fault;
    char call[64];
    long count;
    int is_here; /* this is a rank that it concerns */
    int rank;
} wanted;

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

__attribute__((constructor)) static void read_variables(void)
{
    const char *text = getenv("ONESIDED_FAULT");
    char kind[32] = "", rank[32] = "";
    wanted.rank = rank_of_launcher();
    if (text == NULL) {
        return;
    }
    if (sscanf(text, "%31s %63s %ld %31s", kind, wanted.call, &wanted.count, rank) == 4) {
        for (enum fault fault = NO_FAULT + 1; fault < FAULTS; fault++) {
            wanted.fault = strcmp(names[fault], kind) == 0 ? fault : wanted.fault;
        }
    }
    if (wanted.fault == NO_FAULT) {
        fprintf(stderr, "ONESIDED_FAULT: found %s; expected KIND CALL COUNT RANK\n", text);
        _exit(2);
    }
    wanted.is_here = strcmp(rank, "all") == 0 || atoi(rank) == wanted.rank;
}

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

static const char *name_of(MPI_Op operation)
{
    return operation == MPI_SUM       ? "MPI_SUM"
           : operation == MPI_REPLACE ? "MPI_REPLACE"
           : operation == MPI_NO_OP   ? "MPI_NO_OP"
                                      : "other";
}

/* The kernel's own lines, as many as there are so far, say in which cell this is. */
static void report_fault(const struct call *call, const struct carried *carried)
{
    char line[512];
    struct stat status;
    const char *output = getenv("ONESIDED_FAULT_OUTPUT");
    const long long bytes =
        output != NULL && stat(output, &status) == 0 ? (long long)status.st_size : 0;
    const int has_operation = carried != NULL && carried->operation != MPI_OP_NULL;
    const int length =
        snprintf(line, sizeof line,
                 "{\"type\":\"fault\",\"kind\":\"%s\",\"call\":\"%s\",\"count\":%ld,\"rank\":%d,"
                 "\"operation\":\"%s\",\"lines_bytes\":%lld}\n",
                 names[wanted.fault], call->name, wanted.count, wanted.rank,
                 has_operation ? name_of(carried->operation) : "none", bytes);
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

/* What a fault needs: any call, one that carries data, or one that sends or gets them. */
static long counted(const struct call *now, const struct call *before)
{
    const long calls = now->calls, carrying = now->carrying;
    switch (wanted.fault) {
    case DROP:
    case DUPLICATE:
    case REORDER:
        return carrying > before->carrying ? carrying : 0;
    case CORRUPT_ORIGIN:
    case CORRUPT_TARGET:
        return now->sending > before->sending ? now->sending : 0;
    case WRONG_RESULT:
        return now->getting > before->getting ? now->getting : 0;
    default:
        return calls;
    }
}

/* The same of a call by several threads at once. */
static struct call count(struct call *call, const struct carried *carried, struct call *before)
{
    const int sends = carried != NULL && carried->sent.address != NULL;
    const int gets = carried != NULL && carried->got.address != NULL;
    struct call now = {.calls = __atomic_add_fetch(&call->calls, 1, __ATOMIC_SEQ_CST)};
    now.carrying = __atomic_add_fetch(&call->carrying, sends || gets, __ATOMIC_SEQ_CST);
    now.sending = __atomic_add_fetch(&call->sending, sends, __ATOMIC_SEQ_CST);
    now.getting = __atomic_add_fetch(&call->getting, gets, __ATOMIC_SEQ_CST);
    *before = (struct call){.carrying = now.carrying - (sends || gets),
                            .sending = now.sending - sends,
                            .getting = now.getting - gets};
    return now;
}

enum fault arrive(struct call *call, const struct carried *carried)
{
    struct call before;
    const struct call now = count(call, carried, &before);
    remember(call);
    if (strcmp(call->name, "MPI_Put") != 0 && strcmp(call->name, "MPI_Get") != 0) {
        make_what_is_held();
    }
    if (strcmp(call->name, "MPI_Finalize") == 0) {
        report_counts();
    }
    if (!wanted.is_here || strcmp(call->name, wanted.call) != 0 ||
        counted(&now, &before) != wanted.count) {
        return NO_FAULT;
    }
    report_fault(call, carried);
    if (carried != NULL && carried->got.compared != NULL) {
        tell_later(carried->got);
    }
    switch (wanted.fault) {
    case HANG:
        for (;;) {
            wait_ms(1000);
        }
    case CRASH:
        *(volatile int *)sizeof(int) = 0; /* nobody has memory there */
        return NO_FAULT;
    case EXIT:
        exit(7);
    case DELAY:
        wait_ms(DELAY_MS);
        return NO_FAULT;
    default:
        return wanted.fault;
    }
}
