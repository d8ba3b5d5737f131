/* Pairs that exchange messages at the same time: of processes, or of threads of two processes. */
#include "slots/pairs.h"

/* The pairs of the running cell. */
static struct {
    struct pairs pairs;
    struct team team; /* the threads of this rank; each has a lane */
    const struct exchange *exchange;
    int passes;
    void (*task)(const struct exchange *exchange, int lane, int passes);
} job;

static void work(void *state, int lane)
{
    (void)state;
    job.task(job.exchange, lane, job.passes);
}

bool pairs_describe(struct exchange *exchange, bool both)
{
    const struct pairs *pairs = &job.pairs;
    const int elements = exchange_elements(exchange);
    exchange->lanes = pairs->threads ? pairs->count : 1;
    exchange->lanes_apart = pairs->apart;
    for (int pair = 0; elements > 0 && pair < pairs->count; pair++) {
        const int lane = pairs->threads ? pair : 0;
        const int first = pairs->threads ? 0 : pair;
        const int second = pairs->threads ? 1 : pair + pairs->count;
        exchange_add_on(exchange, lane, first, second, elements);
        if (both) {
            exchange_add_on(exchange, lane, second, first, elements);
        }
    }
    return elements > 0;
}

void pairs_go(const struct exchange *exchange, int passes,
              void (*task)(const struct exchange *exchange, int lane, int passes))
{
    if (exchange->sends.count + exchange->receives.count > 0) {
        job.exchange = exchange;
        job.passes = passes;
        job.task = task;
        team_run(&job.team);
    }
}

/* Tell whether the cell can run here; the record says why not, the same on all ranks. */
static bool is_supported(const struct launch *launch, struct record *record)
{
    const struct pairs *pairs = &job.pairs;
    const int needed = pairs->threads ? 2 : 2 * pairs->count;
    if (launch->ranks < needed) {
        record_status(record, CELL_UNSUPPORTED, "the arrangement needs %d ranks: found %d", needed,
                      launch->ranks);
        return false;
    }
    return team_is_supported(launch, record, pairs->threads ? pairs->count : 1, THREAD_MULTIPLE);
}

void pairs_run(struct launch *launch, const struct cell *cell, struct record *record,
               const struct kind *kind, struct pairs pairs)
{
    const bool has_threads = pairs.threads && launch->rank < (pairs.second_waits ? 1 : 2);
    job.pairs = pairs;
    if (is_supported(launch, record)) {
        job.team = (struct team){.count = has_threads ? pairs.count : 1, .task = work};
        record->helper_threads = job.team.count - 1;
        team_open(&job.team);
        exchange_run(launch, cell, record, kind);
        team_close(&job.team);
    }
}
