/* A watchdog that is no thread: signal handlers say where a rank stood when it hung or died. */
#include "harness/watchdog.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 2048
/* MPI launchers kill all ranks as soon as one rank has ended. A rank that has begun the next cell
 * reports later than the rank that it waits for. So each rank waits for the others' reports: for
 * this share of a cell's time-out, within these bounds. */
#define WAIT_SHARE 0.25
#define LEAST_WAIT_S 0.3
#define MOST_WAIT_S 5.0
#define LOOK_NS 10000000L

const char *volatile watchdog_phase = "start";
_Thread_local const char *volatile watchdog_call = NULL;
volatile long watchdog_collectives = 0;

#define PATH_BYTES 4096
#define STACK_FRAMES 32
#define EXITED 0 /* in place of a signal: the process ends by itself */

/* Signals that end a process for its own fault. SIGTERM and SIGKILL are not among them: launchers
 * send them to the remaining ranks when one rank has ended, and these are not the cause. */
static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
#define DEADLY (sizeof deadly / sizeof deadly[0])

/* What the signal handlers need; they can reach only global data. */
static struct {
    const char *program;
    void (*end)(int code);
    const char *output;
    char hang_path[PATH_BYTES]; /* empty: standard error */
    char crash_path[PATH_BYTES];
    const char *volatile cell_id;
    int rank;
    int ranks;
    double timeout_s;
    timer_t timer;
    int armed;
    const char *volatile *main_call;   /* the main thread's watchdog_call */
    pid_t process;                     /* only its death is reported, not its children's */
    volatile sig_atomic_t told;        /* one report per process: later faults follow from it */
    void (*next_exit)(int);            /* _exit of the C library, or of a sanitizer */
    struct sigaction previous[DEADLY]; /* what a library, or a sanitizer, does with the signal */
} watchdog;

/* Append text to a line of fixed size; ids, phases and call names need no escapes. */
static size_t add(char *line, size_t length, const char *text, const char *stop)
{
    for (; *text != '\0' && strchr(stop, *text) == NULL && length < LINE_BYTES - 1; text++) {
        line[length++] = *text;
    }
    return length;
}

static size_t add_number(char *line, size_t length, long number)
{
    char digits[16];
    size_t position = sizeof digits - 1;
    digits[position] = '\0';
    do {
        digits[--position] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return add(line, length, digits + position, "");
}

static size_t add_text_or_null(char *line, size_t length, const char *text, const char *stop)
{
    if (text == NULL) {
        return add(line, length, "null", "");
    }
    length = add(line, length, "\"", "");
    length = add(line, length, text, stop);
    return add(line, length, "\"", "");
}

/* The line of a hang, or of a crash by `signal_number` (EXITED: the process exits). Any thread may
 * get the signal of a timer; a fault is reported by the thread that has it. */
static size_t make_line(char *line, const char *type, int signal_number)
{
    const char *own_call = type[0] == 'c' ? watchdog_call : NULL;
    const char *call = own_call != NULL ? own_call : *watchdog.main_call;
    size_t length = add(line, 0, "{\"type\":", "");
    length = add_text_or_null(line, length, type, "");
    length = add(line, length, ",\"cell\":", "");
    length = add_text_or_null(line, length, watchdog.cell_id, "");
    length = add(line, length, ",\"rank\":", "");
    length = add_number(line, length, watchdog.rank);
    length = add(line, length, ",\"phase\":", "");
    length = add_text_or_null(line, length, watchdog_phase, "");
    length = add(line, length, ",\"call\":", "");
    length = add_text_or_null(line, length, call, "("); /* the name, not its arguments */
    if (type[0] == 'c') {
        length = add(line, length, ",\"signal\":", "");
        length = signal_number == EXITED ? add(line, length, "null", "")
                                         : add_number(line, length, signal_number);
    } else {
        const int is_inside = call != NULL && IS_COLLECTIVE(call);
        length = add(line, length, ",\"in_collective\":", "");
        length = add(line, length, is_inside ? "true" : "false", "");
        length = add(line, length, ",\"collectives\":", "");
        length = add_number(line, length, watchdog_collectives);
    }
    return add(line, length, "}\n", "");
}

/* Uses async-signal-safe functions alone. */
static void append(const char *path, const char *line, size_t length)
{
    int descriptor = STDERR_FILENO;
    if (path[0] != '\0') {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    }
    for (size_t written = 0; descriptor >= 0 && written < length;) {
        const ssize_t count = write(descriptor, line + written, length - written);
        if (count <= 0) {
            break;
        }
        written += (size_t)count;
    }
}

static void tell(const char *path, const char *type, int signal_number)
{
    static char line[LINE_BYTES];
    if (watchdog.told || getpid() != watchdog.process) {
        return;
    }
    watchdog.told = 1;
    append(path, line, make_line(line, type, signal_number));
}

/* When a rank's hang file was written, by the clock of the file system; 0 if it has no line. */
static double written_s(int rank)
{
    static char path[PATH_BYTES];
    strcpy(path, watchdog.hang_path);
    const size_t stem = (size_t)(strrchr(path, '-') + 1 - path);
    path[add_number(path, stem, rank)] = '\0';
    struct stat status;
    if (stat(path, &status) != 0 || status.st_size == 0) {
        return 0;
    }
    return (double)status.st_mtim.tv_sec + 1e-9 * (double)status.st_mtim.tv_nsec;
}

/* Is there a rank from `first` on that has not reported yet? Its file may be of an earlier
 * launcher, so a file counts only if it is about as new as this rank's own. */
static int are_awaited(int *first, double wait_s)
{
    if (watchdog.hang_path[0] == '\0') {
        return 1;
    }
    const double own_s = written_s(watchdog.rank);
    while (own_s > 0 && *first < watchdog.ranks && written_s(*first) > own_s - wait_s) {
        (*first)++;
    }
    return *first < watchdog.ranks;
}

/* Wait for the other ranks' reports, but not for ever: a rank may be stopped or dead. */
static void await_others(void)
{
    const struct timespec look = {.tv_nsec = LOOK_NS};
    double wait_s = WAIT_SHARE * watchdog.timeout_s;
    wait_s = wait_s < LEAST_WAIT_S ? LEAST_WAIT_S : wait_s > MOST_WAIT_S ? MOST_WAIT_S : wait_s;
    int first = 0;
    for (double waited_s = 0; waited_s < wait_s && are_awaited(&first, wait_s);
         waited_s += 1e-9 * LOOK_NS) {
        nanosleep(&look, NULL);
    }
}

static void on_timeout(int signal_number)
{
    (void)signal_number;
    tell(watchdog.hang_path, "hang", EXITED);
    await_others();
    _exit(EXIT_HANG);
}

/* After a fatal error of its own, an MPI library may end the process by exit(). */
static void on_exit_of_process(void)
{
    tell(watchdog.crash_path, "crash", EXITED);
}

/* Or by _exit(), which calls no handler: so this function replaces the C library's. */
_Noreturn void _exit(int status)
{
    on_exit_of_process();
    if (watchdog.next_exit != NULL) {
        watchdog.next_exit(status);
    }
    for (;;) {
        syscall(SYS_exit_group, status);
    }
}

/* Libraries such as UCX replace sigaction, so that nobody can replace their signal handlers. So
 * call the C library's own sigaction. */
static int set_action(int signal_number, const struct sigaction *action, struct sigaction *previous)
{
    static int (*of_c_library)(int, const struct sigaction *, struct sigaction *);
    if (of_c_library == NULL) {
        void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
        void *symbol = library == NULL ? NULL : dlsym(library, "sigaction");
        of_c_library = sigaction;
        if (symbol != NULL) {
            memcpy(&of_c_library, &symbol, sizeof symbol);
        }
    }
    return of_c_library(signal_number, action, previous);
}

static void write_stack(void)
{
    void *frames[STACK_FRAMES];
    backtrace_symbols_fd(frames, backtrace(frames, STACK_FRAMES), STDERR_FILENO);
}

/* Report, then let the process end as it would have ended: by the handler of a library or of a
 * sanitizer, or by default. A fault comes again when the handler returns, a sent signal does
 * not. */
static void on_death(int signal_number, siginfo_t *cause, void *context)
{
    (void)context;
    tell(watchdog.crash_path, "crash", signal_number);
    size_t i = 0;
    while (deadly[i] != signal_number) {
        i++;
    }
    const struct sigaction *previous = &watchdog.previous[i];
    set_action(signal_number, previous, NULL);
    if (previous->sa_handler == SIG_DFL) {
        write_stack(); /* as Open MPI does if it finds no handler */
    }
    if (cause->si_code <= 0 || previous->sa_handler == SIG_DFL) {
        raise(signal_number);
    }
}

static void catch_deadly_signals(void)
{
    struct sigaction action = {.sa_sigaction = on_death, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < DEADLY; i++) {
        struct sigaction previous;
        const int failed = set_action(deadly[i], &action, &previous);
        if (failed) {
            perror("watchdog: no handler");
        } else if (previous.sa_sigaction != on_death) {
            watchdog.previous[i] = previous;
        }
    }
}

/* There are side files only if the output is an ordinary file. */
static void name_side_files(int rank)
{
    struct stat status;
    watchdog.rank = rank;
    if (watchdog.output != NULL &&
        (stat(watchdog.output, &status) != 0 || S_ISREG(status.st_mode))) {
        snprintf(watchdog.hang_path, PATH_BYTES, "%s.hang-%d", watchdog.output, rank);
        snprintf(watchdog.crash_path, PATH_BYTES, "%s.crash-%d", watchdog.output, rank);
    }
}

void watchdog_open(const char *program, const char *output, int rank, void (*end)(int code))
{
    watchdog.program = program;
    watchdog.output = output;
    watchdog.process = getpid();
    watchdog.end = end;
    watchdog.main_call = &watchdog_call;
    name_side_files(rank);
    void *frame;
    backtrace(&frame, 1); /* the first call loads a library, which a handler must not */
    void *next_exit = dlsym(RTLD_NEXT, "_exit");
    memcpy(&watchdog.next_exit, &next_exit, sizeof next_exit);
    catch_deadly_signals();
    atexit(on_exit_of_process);
}

void watchdog_arm(int rank, int ranks, double timeout_s)
{
    watchdog.timeout_s = timeout_s;
    watchdog.ranks = ranks;
    name_side_files(rank);
    catch_deadly_signals();
    /* A real-time signal: MPI libraries and launchers use the ordinary signals. */
    const int signal_number = SIGRTMAX - 2;
    struct sigaction action = {.sa_handler = on_timeout, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal_number};
    if (sigaction(signal_number, &action, NULL) != 0 ||
        timer_create(CLOCK_MONOTONIC, &event, &watchdog.timer) != 0) {
        perror("watchdog: no timer");
        return;
    }
    watchdog.armed = 1;
}

void watchdog_give(double timeout_s)
{
    if (!watchdog.armed) {
        return;
    }
    struct itimerspec time = {.it_value.tv_sec = (time_t)timeout_s};
    time.it_value.tv_nsec = (long)(1e9 * (timeout_s - (double)time.it_value.tv_sec));
    timer_settime(watchdog.timer, 0, &time, NULL);
}

void watchdog_cell(const char *cell_id)
{
    watchdog.cell_id = cell_id;
    watchdog_give(watchdog.timeout_s);
}

void watchdog_close(void)
{
    watchdog.told = 1; /* from here on an exit is no fault */
    if (watchdog.armed) {
        timer_delete(watchdog.timer);
        watchdog.armed = 0;
    }
}

_Noreturn void watchdog_abort(void)
{
    tell(watchdog.crash_path, "crash", EXITED);
    watchdog.end(EXIT_FAILURE);
    abort();
}

_Noreturn void watchdog_failed(const char *call, const char *message)
{
    char line[LINE_BYTES];
    snprintf(line, sizeof line, "%s", message);
    for (char *end = line; (end = strchr(end, '\n')) != NULL;) {
        *end = ' ';
    }
    fprintf(stderr, "%s: rank %d: %.*s failed in phase %s of cell %s: %s\n", watchdog.program,
            watchdog.rank, (int)strcspn(call, "("), call, watchdog_phase,
            watchdog.cell_id == NULL ? "none" : watchdog.cell_id, line);
    watchdog_call = call;
    watchdog_abort();
}
