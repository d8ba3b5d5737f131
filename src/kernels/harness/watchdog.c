/* A watchdog that is no thread: a POSIX timer whose signal handler says where the rank stands. */
#include "harness/watchdog.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 2048
/* MPI launchers end the other ranks as soon as one is gone: all get time to write. */
#define GRACE_NS 300000000L

const char *volatile watchdog_phase = "start";
const char *volatile watchdog_call = NULL;

/* What the signal handler needs; it can be reached no other way. */
static struct {
    const char *program;
    char path[4096]; /* empty: standard error */
    const char *volatile cell_id;
    int rank;
    double timeout_s;
    timer_t timer;
    int armed;
} watchdog;

/* Append text to a line of fixed size; ids, phases and call names need no escapes. */
static size_t add(char *line, size_t length, const char *text, const char *stop)
{
    for (; *text != '\0' && strchr(stop, *text) == NULL && length < LINE_BYTES - 1; text++) {
        line[length++] = *text;
    }
    return length;
}

static size_t add_number(char *line, size_t length, int number)
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

static size_t make_line(char *line)
{
    size_t length = add(line, 0, "{\"type\":\"hang\",\"cell\":", "");
    length = add_text_or_null(line, length, watchdog.cell_id, "");
    length = add(line, length, ",\"rank\":", "");
    length = add_number(line, length, watchdog.rank);
    length = add(line, length, ",\"phase\":", "");
    length = add_text_or_null(line, length, watchdog_phase, "");
    length = add(line, length, ",\"call\":", "");
    length = add_text_or_null(line, length, watchdog_call, "("); /* the name, not its arguments */
    return add(line, length, "}\n", "");
}

static void on_timeout(int signal_number)
{
    static char line[LINE_BYTES];
    (void)signal_number;
    const size_t length = make_line(line);
    int descriptor = STDERR_FILENO;
    if (watchdog.path[0] != '\0') {
        descriptor = open(watchdog.path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    }
    for (size_t written = 0; descriptor >= 0 && written < length;) {
        const ssize_t count = write(descriptor, line + written, length - written);
        if (count <= 0) {
            break;
        }
        written += (size_t)count;
    }
    struct timespec grace = {.tv_nsec = GRACE_NS};
    nanosleep(&grace, NULL);
    _exit(EXIT_HANG);
}

void watchdog_open(const char *program, const char *output, int rank, double timeout_s)
{
    watchdog.program = program;
    watchdog.rank = rank;
    watchdog.timeout_s = timeout_s;
    if (output != NULL) {
        snprintf(watchdog.path, sizeof watchdog.path, "%s.hang-%d", output, rank);
    }
    /* A real-time signal: the ordinary ones belong to MPI libraries and launchers. */
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

void watchdog_cell(const char *cell_id)
{
    watchdog.cell_id = cell_id;
    if (!watchdog.armed) {
        return;
    }
    struct itimerspec time = {.it_value.tv_sec = (time_t)watchdog.timeout_s};
    time.it_value.tv_nsec = (long)(1e9 * (watchdog.timeout_s - (double)time.it_value.tv_sec));
    timer_settime(watchdog.timer, 0, &time, NULL);
}

void watchdog_close(void)
{
    if (watchdog.armed) {
        timer_delete(watchdog.timer);
        watchdog.armed = 0;
    }
}

_Noreturn void mpi_failed(const char *call, int code)
{
    char message[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    MPI_Error_string(code, message, &length);
    for (char *end = message; (end = strchr(end, '\n')) != NULL;) {
        *end = ' ';
    }
    fprintf(stderr, "%s: rank %d: %.*s failed in phase %s of cell %s: %s\n", watchdog.program,
            watchdog.rank, (int)strcspn(call, "("), call, watchdog_phase,
            watchdog.cell_id == NULL ? "none" : watchdog.cell_id, message);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}
