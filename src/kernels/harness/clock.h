/* The clock all durations and stamps are taken from: CLOCK_MONOTONIC, in seconds. */
#ifndef ONESIDED_CLOCK_H
#define ONESIDED_CLOCK_H

#include <time.h>

struct clock_facts {
    double resolution_s; /* greatest common divisor of the steps seen */
    double overhead_s;   /* of one reading, the mean of many back to back */
};

/* Whole seconds to leave out of every stamp, the same on all ranks. Since the machine was started
 * months may have passed, and a double would no longer hold nanoseconds. */
extern time_t clock_origin_s;

static inline double clock_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - clock_origin_s) + 1e-9 * (double)now.tv_nsec;
}

/* The whole seconds of now, for clock_origin_s. */
time_t clock_whole_seconds(void);

/* Give the core away for so many seconds. */
void clock_sleep(double seconds);

struct clock_facts clock_measure(void);

#endif
