/* Limits: what this machine needs for what one-sided communication is made of, with no MPI in it.
 *
 * No measurement of an MPI can be judged without it: an atomic operation of a window that two
 * processes share cannot be faster than the processor's own, a put not faster than a copy, an
 * operation over TCP not faster than a round trip through the loopback device, a helper thread not
 * cheaper than a thread, and no time is better than the clock it is taken from.
 *
 * Atomic operations after Schweizer, Besta, Hoefler, "Evaluating the Cost of Atomic Operations on
 * Modern Architectures", PACT 2015 (latency of fetch-and-add and compare-and-swap on a line that
 * one core, or two at once, write to). The other bounds are own definitions.
 *
 * Timed, in seconds, at rank 1: bursts of k, a burst as a whole, k recorded. Meanwhile rank 0, the
 * partner, and all others sleep on a semaphore, so that they take neither a core nor a cache line;
 * where a bound is contended the partner does the same as rank 1, as fast as it can.
 * Verified: the sum of all atomic operations of both ranks; every copy, by the partner; every
 * message, at both ends; that each thread ran; that the clock never steps back. */
#include <arpa/inet.h>
#include <errno.h>
#include <mpi.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/await.h"
#include "harness/launch.h"
#include "harness/memory.h"
#include "harness/shared_page.h"
#include "harness/watchdog.h"

#define PARTNER 0
#define ORIGIN 1
#define WORD_BYTES 8
#define LINE_BYTES 128 /* two cache lines: processors fetch the neighbour, too */
#define SETTLE_S 50e-6 /* from the partner's flag to the burst: it falls asleep, or is at it */
#define UNWATCHED 16   /* operations of the partner between two looks at whether it is over */
#define COPIED_BYTES (128 << 10) /* in one burst, unless a copy is larger */

/* What all ranks share outside MPI; each member has its cache line to itself. */
struct page {
    _Alignas(LINE_BYTES) uint64_t first;         /* shared_page_open writes here */
    _Alignas(LINE_BYTES) _Atomic int64_t word;   /* what atomic operations are made on */
    _Alignas(LINE_BYTES) _Atomic uint64_t there; /* the sample that the partner is ready for */
    _Alignas(LINE_BYTES) _Atomic uint64_t over;  /* the sample that is over */
    _Alignas(LINE_BYTES) sem_t wake;
    _Alignas(LINE_BYTES) int64_t copies[]; /* at least COPIED_BYTES, or one copy */
};

struct experiment {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct bound *bound;
    struct page *page;
    size_t page_bytes;
    size_t elements; /* of a copy, WORD_BYTES each */
    int64_t burst;   /* operations in a sample */
    uint64_t sample; /* the number of the sample that is running, from 1 */
    int64_t *source; /* at the origin: what is copied; with a socket, what is sent */
    int64_t *received;
    int64_t done;    /* operations of this rank that have changed the word, or threads that ran */
    int64_t changed; /* by this rank since the burst began */
    int64_t seen;    /* what the word holds, as far as this rank knows */
    int64_t before;  /* what it held when the burst began */
    double last_s;   /* the last reading of the clock */
    int socket;      /* to the other rank */
    bool injected;   /* wrong data, for tests */
    struct verification check; /* of this rank's: what it has copied there, or received */
};

struct bound {
    const char *name;
    int64_t longest_burst;
    bool contended; /* the partner does the same meanwhile */
    /* `repeat` operations in a row, one after the other */
    void (*repeat)(struct experiment *experiment, int64_t repeat);
    /* At all ranks, collective: what it needs; false with a reason in the record. */
    bool (*open)(struct experiment *experiment);
    void (*close)(struct experiment *experiment);
    /* Untimed, at the origin: before a sample. */
    void (*prepare)(struct experiment *experiment);
    /* At the partner, instead of its sleep. */
    void (*accompany)(struct experiment *experiment);
    /* At origin and partner, after each sample. */
    void (*inspect)(struct experiment *experiment);
    /* At all ranks, collective, after the last: leave verifications in the record. */
    void (*verify)(struct experiment *experiment);
};

static bool open_nothing(struct experiment *experiment)
{
    (void)experiment;
    return true;
}

static void nothing(struct experiment *experiment)
{
    (void)experiment;
}

/* For tests: true once, at the origin, in the cell that is to go wrong. */
static bool injects_now(struct experiment *experiment)
{
    const bool now = !experiment->injected && experiment->launch->rank == ORIGIN &&
                     launch_injects(experiment->launch, experiment->cell, INJECT_WRONG_DATA);
    experiment->injected |= now;
    return now;
}

/* ---- Atomic operations ---- */

static void add(struct experiment *experiment, int64_t repeat)
{
    _Atomic int64_t *const word = &experiment->page->word;
    for (int64_t i = 0; i < repeat; i++) {
        experiment->seen = atomic_fetch_add(word, 1);
    }
    experiment->changed += repeat;
}

/* An attempt each, from what the last one has found: another rank's success makes it fail. */
static void compare_and_swap(struct experiment *experiment, int64_t repeat)
{
    _Atomic int64_t *const word = &experiment->page->word;
    int64_t expected = experiment->seen;
    int64_t changed = 0;
    for (int64_t i = 0; i < repeat; i++) {
        if (atomic_compare_exchange_strong(word, &expected, expected + 1)) {
            expected++;
            changed++;
        }
    }
    experiment->seen = expected;
    experiment->changed += changed;
}

static void look_at_word(struct experiment *experiment)
{
    if (injects_now(experiment)) {
        atomic_fetch_add(&experiment->page->word, 1);
    }
    experiment->seen = atomic_load(&experiment->page->word);
}

/* The partner of a contended bound: at it until the origin's burst is over. */
static void compete(struct experiment *experiment)
{
    experiment->changed = 0;
    experiment->seen = atomic_load(&experiment->page->word);
    while (atomic_load_explicit(&experiment->page->over, memory_order_relaxed) !=
           experiment->sample) {
        experiment->bound->repeat(experiment, UNWATCHED);
    }
    experiment->done += experiment->changed;
}

static void verify_sum(struct experiment *experiment)
{
    int64_t sum = 0;
    CHECKED(MPI_Reduce(&experiment->done, &sum, 1, MPI_INT64_T, MPI_SUM, PARTNER,
                       experiment->launch->communicator));
    if (experiment->launch->rank == PARTNER) {
        record_verification(experiment->record,
                            verify_exact("sum", atomic_load(&experiment->page->word), sum));
    }
}

/* ---- Copies into memory that the other process has mapped, and has read just before: each to a
 * place of its own. ---- */

static int64_t element_of_sample(uint64_t sample, size_t element)
{
    const uint64_t bits = sample * 0x9E3779B97F4A7C15u + (element + 1) * 0xD1B54A32D192ED03u;
    return (int64_t)(bits ^ (bits >> 31));
}

static bool open_copies(struct experiment *experiment)
{
    const size_t count = (size_t)experiment->burst * experiment->elements;
    strcpy(experiment->check.name, "copies");
    experiment->source = allocate(count, WORD_BYTES);
    return true;
}

static void close_copies(struct experiment *experiment)
{
    free(experiment->source);
}

static void fill_source(struct experiment *experiment)
{
    const size_t count = (size_t)experiment->burst * experiment->elements;
    for (size_t i = 0; i < count; i++) {
        experiment->source[i] = element_of_sample(experiment->sample, i);
    }
    experiment->source[count - 1] ^= injects_now(experiment);
}

static void copy(struct experiment *experiment, int64_t repeat)
{
    const size_t elements = experiment->elements;
    for (int64_t i = 0; i < repeat; i++) {
        const size_t place = (size_t)i * elements;
        memcpy(&experiment->page->copies[place], &experiment->source[place], elements * WORD_BYTES);
    }
}

static void inspect_copies(struct experiment *experiment)
{
    const bool is_partner = experiment->launch->rank == PARTNER;
    const size_t count = (size_t)experiment->burst * experiment->elements;
    for (size_t i = 0; is_partner && i < count; i++) {
        verify_element(&experiment->check, experiment->page->copies[i],
                       element_of_sample(experiment->sample, i), i, experiment->sample);
    }
}

static void verify_copies(struct experiment *experiment)
{
    if (experiment->launch->rank == PARTNER) {
        record_verification(experiment->record, experiment->check);
    }
}

/* ---- A round trip through a TCP socket of the loopback device: eight bytes there and back, both
 * processes blocked in recv() while they wait. ---- */

static bool send_word(int socket, int64_t word)
{
    return send(socket, &word, sizeof word, MSG_NOSIGNAL) == (ssize_t)sizeof word;
}

static bool receive_word(int socket, int64_t *word)
{
    return recv(socket, word, sizeof *word, MSG_WAITALL) == (ssize_t)sizeof *word;
}

static struct sockaddr_in loopback(in_port_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* At the partner: a socket that listens at a port the system chose; -1 if it cannot be. */
static int listen_at(in_port_t *port)
{
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
        listen(listener, 1) == 0 &&
        getsockname(listener, (struct sockaddr *)&address, &length) == 0) {
        *port = address.sin_port;
        return listener;
    }
    if (listener >= 0) {
        close(listener);
    }
    return -1;
}

static int connect_to(in_port_t port)
{
    const struct sockaddr_in address = loopback(port);
    const int connected = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connected >= 0 &&
        connect(connected, (const struct sockaddr *)&address, sizeof address) != 0) {
        close(connected);
        return -1;
    }
    return connected;
}

static bool open_socket(struct experiment *experiment)
{
    const MPI_Comm communicator = experiment->launch->communicator;
    const int rank = experiment->launch->rank;
    const int at_once = 1;
    in_port_t port = 0;
    int listener = -1;
    int why = 0;
    strcpy(experiment->check.name, rank == PARTNER ? "received" : "echoed");
    experiment->source = allocate((size_t)experiment->burst, WORD_BYTES);
    experiment->received = allocate((size_t)experiment->burst, WORD_BYTES);
    if (rank == PARTNER) {
        listener = listen_at(&port);
        why = errno;
    }
    CHECKED(MPI_Bcast(&port, sizeof port, MPI_BYTE, PARTNER, communicator));
    if (rank == ORIGIN && port != 0) {
        experiment->socket = connect_to(port);
        why = errno;
    }
    /* The connection is there before anybody accepts it: nobody waits for one that failed. */
    int connected = experiment->socket >= 0;
    CHECKED(MPI_Bcast(&connected, 1, MPI_INT, ORIGIN, communicator));
    if (rank == PARTNER && connected) {
        experiment->socket = accept(listener, NULL, NULL);
    }
    if (listener >= 0) {
        close(listener);
    }
    const bool ready = rank > ORIGIN || (experiment->socket >= 0 &&
                                         setsockopt(experiment->socket, IPPROTO_TCP, TCP_NODELAY,
                                                    &at_once, sizeof at_once) == 0);
    if (!ready) {
        record_status(experiment->record, CELL_UNSUPPORTED, "no TCP connection over 127.0.0.1: %s",
                      strerror(why));
    }
    int all_ready = ready;
    CHECKED(MPI_Allreduce(MPI_IN_PLACE, &all_ready, 1, MPI_INT, MPI_LAND, communicator));
    return all_ready;
}

static void close_socket(struct experiment *experiment)
{
    free(experiment->received);
    free(experiment->source);
    if (experiment->socket >= 0) {
        close(experiment->socket);
    }
}

static void forget_received(struct experiment *experiment)
{
    memset(experiment->received, 0, (size_t)experiment->burst * WORD_BYTES);
}

static void prepare_words(struct experiment *experiment)
{
    forget_received(experiment);
    for (int64_t i = 0; i < experiment->burst; i++) {
        experiment->source[i] = element_of_sample(experiment->sample, (size_t)i);
    }
    experiment->source[experiment->burst - 1] ^= injects_now(experiment);
}

/* A word that could not be sent is received by nobody, and found missing afterwards. */
static void round_trip(struct experiment *experiment, int64_t repeat)
{
    for (int64_t i = 0; i < repeat; i++) {
        if (send_word(experiment->socket, experiment->source[i])) {
            (void)receive_word(experiment->socket, &experiment->received[i]);
        }
    }
}

static void echo(struct experiment *experiment)
{
    forget_received(experiment);
    for (int64_t i = 0; i < experiment->burst; i++) {
        if (receive_word(experiment->socket, &experiment->received[i])) {
            (void)send_word(experiment->socket, experiment->received[i]);
        }
    }
}

/* At both ends, after the sample. */
static void inspect_words(struct experiment *experiment)
{
    for (int64_t i = 0; i < experiment->burst; i++) {
        verify_element(&experiment->check, experiment->received[i],
                       element_of_sample(experiment->sample, (size_t)i), (size_t)i,
                       experiment->sample);
    }
}

static void verify_messages(struct experiment *experiment)
{
    if (experiment->launch->rank <= ORIGIN) {
        record_verification(experiment->record, experiment->check);
    }
}

/* ---- Threads: created, run, joined, one after the other. They make no MPI call, and none is in
 * progress while they live: so they are had at MPI_THREAD_SINGLE, too. ---- */

static void *count_itself(void *done)
{
    ++*(int64_t *)done;
    return NULL;
}

static void create_threads(struct experiment *experiment, int64_t repeat)
{
    for (int64_t i = 0; i < repeat; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, count_itself, &experiment->changed) == 0) {
            pthread_join(thread, NULL);
        }
    }
    experiment->changed -= injects_now(experiment);
}

/* ---- The clock that everything is timed with ---- */

static void read_clock(struct experiment *experiment, int64_t repeat)
{
    double last_s = experiment->last_s;
    int64_t steps_back = 0;
    for (int64_t i = 0; i < repeat; i++) {
        const double now_s = clock_now_s();
        steps_back += now_s < last_s;
        last_s = now_s;
    }
    experiment->last_s = last_s;
    experiment->changed += repeat - steps_back - injects_now(experiment);
}

/* Every operation of the origin, the warm-up's too, has counted. */
static void verify_count(struct experiment *experiment)
{
    const int64_t burst = experiment->burst;
    if (experiment->launch->rank == ORIGIN) {
        record_verification(experiment->record, verify_exact("count", experiment->done,
                                                             burst * (int64_t)experiment->sample));
    }
}

/* ---- All of them ---- */

#define PLAIN .open = open_nothing, .close = nothing, .prepare = nothing, .inspect = nothing
#define ATOMIC(repeat_)                                                                            \
    .longest_burst = 1000, .repeat = (repeat_), .open = open_nothing, .close = nothing,            \
    .prepare = look_at_word, .inspect = nothing, .verify = verify_sum
#define CONTENDED .contended = true, .accompany = compete

static const struct bound bounds[] = {
    {.name = "atomic_add", ATOMIC(add)},
    {.name = "atomic_add_contended", ATOMIC(add), CONTENDED},
    {.name = "compare_and_swap", ATOMIC(compare_and_swap)},
    {.name = "compare_and_swap_contended", ATOMIC(compare_and_swap), CONTENDED},
    {.name = "copy",
     .longest_burst = 1000,
     .repeat = copy,
     .open = open_copies,
     .close = close_copies,
     .prepare = fill_source,
     .inspect = inspect_copies,
     .verify = verify_copies},
    {.name = "socket_round_trip",
     .longest_burst = 20,
     .repeat = round_trip,
     .open = open_socket,
     .close = close_socket,
     .prepare = prepare_words,
     .accompany = echo,
     .inspect = inspect_words,
     .verify = verify_messages},
    {.name = "thread_creation",
     .longest_burst = 10,
     .repeat = create_threads,
     PLAIN,
     .verify = verify_count},
    {.name = "timer", .longest_burst = 1000, .repeat = read_clock, PLAIN, .verify = verify_count},
};

static const struct axis axes[] = {
    {"bound", "what is bounded", AXIS_CHOICE,
     "atomic_add,atomic_add_contended,compare_and_swap,compare_and_swap_contended,copy,"
     "socket_round_trip,thread_creation,timer",
     TABLE(bounds), 0, 0},
    {"size_bytes",
     "size of a copy, a multiple of 8; 8 for all others",
     AXIS_INTEGER,
     "8",
     {0},
     WORD_BYTES,
     1 << 20},
};

static const struct option options[] = {
    {"samples", "N", "bursts to time", OPTION_INTEGER, "20", 1, SERIES_SAMPLES_MAX},
    {"burst", "K", "operations in a burst, at most: those that take long have fewer",
     OPTION_INTEGER, "1000", 1, 100000},
};

/* ---- One sample ---- */

static void sleep_until_over(struct experiment *experiment)
{
    while (sem_wait(&experiment->page->wake) != 0 && errno == EINTR) {
    }
}

static void be_partner(struct experiment *experiment)
{
    atomic_store(&experiment->page->there, experiment->sample);
    if (experiment->bound->accompany == NULL) {
        sleep_until_over(experiment);
    } else {
        experiment->bound->accompany(experiment);
    }
}

static void let_others_go(struct experiment *experiment)
{
    const int sleepers = experiment->launch->ranks - 1 - (experiment->bound->accompany != NULL);
    atomic_store(&experiment->page->over, experiment->sample);
    for (int i = 0; i < sleepers; i++) {
        sem_post(&experiment->page->wake);
    }
}

/* The partner may have lost its core meanwhile: wait for its next operation. */
static void await_partner(struct experiment *experiment)
{
    const int64_t word = atomic_load(&experiment->page->word);
    while (atomic_load(&experiment->page->word) == word) {
        sched_yield();
    }
}

/* THE TIMED LOOP is the bound's own; returns seconds. */
static double time_burst(struct experiment *experiment)
{
    await_word(&experiment->page->there, experiment->sample, experiment->launch->communicator);
    const double settled_s = clock_now_s() + SETTLE_S;
    while (clock_now_s() < settled_s) {
    }
    if (experiment->bound->contended) {
        await_partner(experiment);
    }
    experiment->changed = 0;
    experiment->before = atomic_load(&experiment->page->word);
    const double begin_s = clock_now_s();
    experiment->bound->repeat(experiment, experiment->burst);
    const double end_s = launch_slowed(experiment->launch, experiment->cell, begin_s);
    experiment->done += experiment->changed;
    return end_s - begin_s;
}

/* At the origin: the burst, and how often the partner changed the word between its first and last
 * operation, which says whether there was contention. */
static void be_origin(struct experiment *experiment, struct series *time, struct series *competing)
{
    experiment->bound->prepare(experiment);
    const double burst_s = time_burst(experiment);
    const int64_t word = atomic_load(&experiment->page->word);
    let_others_go(experiment);
    if (time != NULL) {
        series_add(time, burst_s / (double)experiment->burst);
    }
    if (competing != NULL) {
        series_add(competing, (double)(word - experiment->before - experiment->changed));
    }
}

/* All ranks; series NULL to warm up. */
static void run_sample(struct experiment *experiment, struct series *time, struct series *competing)
{
    const int rank = experiment->launch->rank;
    experiment->sample++;
    watchdog_phase = "burst";
    CHECKED(MPI_Barrier(experiment->launch->communicator));
    if (rank == ORIGIN) {
        be_origin(experiment, time, competing);
    } else if (rank == PARTNER) {
        be_partner(experiment);
    } else {
        sleep_until_over(experiment);
    }
    CHECKED(MPI_Barrier(experiment->launch->communicator));
    watchdog_phase = "verify";
    if (rank == PARTNER || rank == ORIGIN) {
        experiment->bound->inspect(experiment);
    }
}

static void take_samples(struct experiment *experiment)
{
    const long long samples = options_integer(&experiment->launch->options, "samples");
    struct record *record = experiment->record;
    struct series *time = NULL;
    struct series *competing = NULL;
    run_sample(experiment, NULL, NULL);
    if (experiment->launch->rank == ORIGIN) {
        time = record_series(record, "time", "s", (int)experiment->burst);
        if (experiment->bound->contended) {
            competing = record_series(record, "competing", "count", (int)experiment->burst);
        }
    }
    for (long long i = 0; i < samples; i++) {
        run_sample(experiment, time, competing);
    }
}

/* ---- One cell ---- */

static void plan_burst(struct experiment *experiment)
{
    const int64_t size_bytes = (int64_t)cell_number(experiment->cell, "size_bytes");
    const int64_t asked = options_integer(&experiment->launch->options, "burst");
    const int64_t longest = experiment->bound->longest_burst;
    const int64_t room = size_bytes < COPIED_BYTES ? COPIED_BYTES / size_bytes : 1;
    experiment->burst = asked < longest ? asked : longest;
    experiment->elements = (size_t)(size_bytes / WORD_BYTES);
    if (experiment->burst > room) {
        experiment->burst = room;
    }
}

/* Collective: false, with the reason in the record, where there is no memory outside MPI. */
static bool open_page(struct experiment *experiment)
{
    const MPI_Comm communicator = experiment->launch->communicator;
    experiment->page_bytes =
        sizeof *experiment->page + (size_t)experiment->burst * experiment->elements * WORD_BYTES;
    experiment->page = shared_page_open(communicator, experiment->page_bytes);
    if (experiment->page == NULL) {
        record_status(experiment->record, CELL_UNSUPPORTED,
                      "needs memory that all ranks share, on one host: found none");
        return false;
    }
    if (experiment->launch->rank == PARTNER) {
        sem_init(&experiment->page->wake, 1, 0);
    }
    CHECKED(MPI_Barrier(communicator));
    return true;
}

static void close_page(struct experiment *experiment)
{
    CHECKED(MPI_Barrier(experiment->launch->communicator));
    if (experiment->launch->rank == PARTNER) {
        sem_destroy(&experiment->page->wake);
    }
    shared_page_close(experiment->page, experiment->page_bytes);
}

static const char *contradiction(const struct experiment *experiment)
{
    const int size_bytes = (int)cell_number(experiment->cell, "size_bytes");
    if (size_bytes % WORD_BYTES != 0) {
        return "the size of a copy must be a multiple of 8 bytes";
    }
    if (size_bytes != WORD_BYTES && experiment->bound->repeat != copy) {
        return "only a copy has a size other than 8 bytes";
    }
    return NULL;
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    struct experiment experiment = {.launch = launch,
                                    .cell = cell,
                                    .record = record,
                                    .bound = cell_choice(cell, "bound"),
                                    .socket = -1};
    const char *reason = contradiction(&experiment);
    if (reason != NULL) {
        record_status(record, CELL_UNSUPPORTED, "%s", reason);
        return;
    }
    watchdog_phase = "open";
    plan_burst(&experiment);
    if (!open_page(&experiment)) {
        return;
    }
    if (experiment.bound->open(&experiment)) {
        watchdog_phase = "start";
        launch_common_start(launch);
        launch_inject(launch, cell);
        take_samples(&experiment);
        experiment.bound->verify(&experiment);
    }
    watchdog_phase = "close";
    experiment.bound->close(&experiment);
    close_page(&experiment);
}

/* ---- The table for a person ---- */

static void print_head(const struct launch *launch)
{
    printf("Bounds of this machine, no MPI in them; %d ranks, %d cores\n", launch->ranks,
           host_cores(&launch->host));
    printf("time: median over %lld bursts of k operations\n\n",
           options_integer(&launch->options, "samples"));
    printf("%-28s %9s %6s %12s\n", "bound", "bytes", "k", "time/us");
    fflush(stdout);
}

static void print_row(const struct launch *launch, const struct cell *cell,
                      const struct record *record)
{
    double row[2] = {0, 0};
    if (launch->rank == ORIGIN && record->series_count > 0) {
        row[0] = record->series[0].burst;
        row[1] = series_median(&record->series[0]);
    }
    CHECKED(MPI_Bcast(row, 2, MPI_DOUBLE, ORIGIN, launch->communicator));
    if (launch->rank != 0) {
        return;
    }
    printf("%-28s %9.0f ", *(const char *const *)cell_choice(cell, "bound"),
           cell_number(cell, "size_bytes"));
    if (record->status != CELL_OK) {
        printf("%s: %s\n", status_name(record->status), record->detail);
    } else {
        printf("%6.0f %12.4f\n", row[0], 1e6 * row[1]);
    }
    fflush(stdout);
}

int main(int argument_count, char **arguments)
{
    static const struct kernel kernel = {
        .name = "limits",
        .summary = "what this machine needs for what one-sided communication is made of",
        .axes = axes,
        .axis_count = sizeof axes / sizeof axes[0],
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .run_cell = run_cell,
        .print_head = print_head,
        .print_row = print_row};
    return launch_run(&kernel, argument_count, arguments);
}
