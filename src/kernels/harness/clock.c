/* The clock of all durations and stamps: CLOCK_MONOTONIC, in seconds. */
#include "harness/clock.h"

#include <errno.h>
#include <stdint.h>

#define READINGS 10000

time_t clock_origin_s = 0;

time_t clock_whole_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

void clock_sleep(double seconds)
{
    const time_t whole_s = (time_t)seconds;
    struct timespec left = {whole_s, (long)(1e9 * (seconds - (double)whole_s))};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t greatest_common_divisor(int64_t first, int64_t second)
{
    while (second != 0) {
        const int64_t rest = first % second;
        first = second;
        second = rest;
    }
    return first;
}

struct clock_facts clock_measure(void)
{
    int64_t step_ns = 0;
    const int64_t begin_ns = now_ns();
    int64_t last_ns = begin_ns;
    for (int i = 0; i < READINGS; i++) {
        const int64_t reading_ns = now_ns();
        step_ns = greatest_common_divisor(step_ns, reading_ns - last_ns);
        last_ns = reading_ns;
    }
    /* To compute the divisor takes as long as a reading, so the overhead is measured apart. */
    const double before_s = clock_now_s();
    double after_s = before_s;
    for (int i = 0; i < READINGS; i++) {
        after_s = clock_now_s();
    }
    return (struct clock_facts){.resolution_s = 1e-9 * (double)step_ns,
                                .overhead_s = (after_s - before_s) / READINGS};
}
