/* Counted operations: threads that ran, and readings of the clock. */
#include <pthread.h>

#include "machine/baseline/baseline.h"

/* ---- Threads: created, run and joined one after the other. No MPI call is made while they live,
 * so MPI_THREAD_SINGLE is enough. ---- */

static void *count_itself(void *done)
{
    ++*(int64_t *)done;
    return NULL;
}

void create_threads(struct experiment *experiment, int64_t repeat)
{
    for (int64_t i = 0; i < repeat; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, count_itself, &experiment->changed) == 0) {
            pthread_join(thread, NULL);
        }
    }
}

/* ---- The clock that everything is timed with ---- */

void read_clock(struct experiment *experiment, int64_t repeat)
{
    double last_s = experiment->last_s;
    int64_t steps_back = 0;
    for (int64_t i = 0; i < repeat; i++) {
        const double now_s = clock_now_s();
        steps_back += now_s < last_s;
        last_s = now_s;
    }
    experiment->last_s = last_s;
    experiment->changed += repeat - steps_back;
}

/* Verify the count of all operations of the origin, with those of the warm-up. */
void verify_count(struct experiment *experiment)
{
    const int64_t burst = experiment->burst;
    if (experiment->launch->rank == ORIGIN) {
        record_verification(experiment->record, verify_exact("count", experiment->done,
                                                             burst * (int64_t)experiment->sample));
    }
}

/* Verify the counts of both threads. */
void verify_both_counts(struct experiment *experiment)
{
    const int64_t burst = experiment->burst;
    verify_count(experiment);
    if (experiment->launch->rank == ORIGIN) {
        record_verification(experiment->record, verify_exact("second", experiment->second_done,
                                                             burst * (int64_t)experiment->sample));
    }
}

const struct baseline_kind counted = {.verify = verify_count};
