/* A kernel for tests: ranks ask a server, a thread of rank 0 or the last rank, to add one to each
 * element that they send. Each answer is compared, and the answers are counted. A thread's own rank
 * asks, too. Wrong data is one element of a request. */
#include <stdlib.h>
#include <time.h>

#include "harness/memory.h"
#include "harness/watchdog.h"
#include "mpi/server.h"
#include "mpi/world.h"

struct where {
    const char *name;
    bool is_thread;
};
static const struct where places[] = {{"thread", true}, {"rank", false}};

static const struct axis axes[] = {
    CHOICE_AXIS("where", "the server", "thread,rank", places),
    INTEGER_AXIS("elements", "of a request", "0,1,1024,1025,65536", 0, 1 << 20),
};

static const struct option options[] = {
    {"requests", "N", "of each rank", OPTION_INTEGER, "10", 0, 1000},
    {"wrong-request", "N", "of each rank: it is another than the one that is compared",
     OPTION_INTEGER, NULL, 0, 1000},
    {"slow-ms", "MS", "that an answer takes longer", OPTION_INTEGER, "0", 0, 1000},
};

#define TAG 3

struct header {
    int64_t first, elements;
};

static int64_t *answers;
static long long slow_ms;

static void add_one(struct server *server, const struct request *request)
{
    const struct header *header = request->header;
    const int64_t *elements = request->payload;
    const struct timespec pause = {.tv_nsec = slow_ms * 1000000};
    nanosleep(&pause, NULL);
    for (int64_t i = 0; i < header->elements; i++) {
        answers[i] = elements[i] + header->first;
    }
    answers[header->elements] = request->tag;
    server_answer(server, request, answers, (size_t)(header->elements + 1) * sizeof(int64_t));
}

static void ask(struct server *server, struct launch *launch, const struct cell *cell,
                struct verification *found)
{
    const long long requests = options_integer(&launch->options, "requests");
    const size_t elements = (size_t)cell_number(cell, "elements");
    const bool is_told = options_text(&launch->options, "wrong-request") != NULL;
    const long long wrong = is_told ? options_integer(&launch->options, "wrong-request") : -1;
    int64_t *sent = allocate(elements + 1, sizeof *sent);
    int64_t *got = allocate(elements + 1, sizeof *got);
    for (int64_t request = 0; request < requests; request++) {
        const struct header header = {.first = request + (request == wrong),
                                      .elements = (int64_t)elements};
        for (size_t i = 0; i < elements; i++) {
            sent[i] = value_of_sample((uint64_t)request, i);
        }
        server_ask(server, TAG, &header, sizeof header, sent, elements * sizeof *sent);
        server_await(server, got, (elements + 1) * sizeof *got);
        for (size_t i = 0; i < elements; i++) {
            verify_element(found, got[i], sent[i] + request, i, (uint64_t)request);
        }
        verify_element(found, got[elements], TAG, elements, (uint64_t)request);
    }
    free(sent);
    free(got);
}

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct where *where = cell_choice(cell, "where");
    struct verification found = {.name = "elements"};
    struct server server = {.record = record,
                            .rank = where->is_thread ? 0 : launch->ranks - 1,
                            .is_thread = where->is_thread,
                            .answer = add_one};
    if (where->is_thread && !server_thread_is_supported(launch, record)) {
        return;
    }
    answers = allocate((size_t)cell_number(cell, "elements") + 1, sizeof *answers);
    slow_ms = options_integer(&launch->options, "slow-ms");
    watchdog_phase = "ask";
    server_start(&server);
    for (int time = 0; time < 2; time++) {
        if (!where->is_thread && launch->rank == server.rank) {
            server_serve(&server);
        } else {
            ask(&server, launch, cell, &found);
            if (!where->is_thread) {
                server_release(&server);
            }
        }
    }
    server_stop(&server);
    if (found.checked > 0) {
        record_verification(record, found);
    }
    series_add(record_series(record, "answered", "count", 1), (double)server.answered);
    free(answers);
}

int main(int argument_count, char **arguments)
{
    static const struct kernel kernel = {.name = "answers",
                                         .summary = "for tests: what a server answers",
                                         .axes = axes,
                                         .axis_count = sizeof axes / sizeof axes[0],
                                         .options = options,
                                         .option_count = sizeof options / sizeof options[0],
                                         .run_cell = run_cell};
    return launch_run(&kernel, argument_count, arguments);
}
