/* What is counted: threads that ran, and readings of the clock. */
#include <pthread.h>

#include "machine/baseline/baseline.h"

/* ---- Threads: created, run, joined, one after the other. They make no MPI call, and none is in
 * progress while they live: so they are had at MPI_THREAD_SINGLE, too. ---- */

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

/* Every operation of the origin, the warm-up's too, has counted. */
void verify_count(struct experiment *experiment)
{
    const int64_t burst = experiment->burst;
    if (experiment->launch->rank == ORIGIN) {
        record_verification(experiment->record, verify_exact("count", experiment->done,
                                                             burst * (int64_t)experiment->sample));
    }
}

/* And every one of the second thread. */
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
