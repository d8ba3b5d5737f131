/* The clock of all durations and stamps: CLOCK_MONOTONIC, in seconds. */
#ifndef ONESIDED_CLOCK_H
#define ONESIDED_CLOCK_H

#include <time.h>

struct clock_facts {
    double resolution_s; /* greatest common divisor of the measured steps */
    double overhead_s;   /* of one reading: the mean of many in a row */
};

/* Whole seconds that are subtracted from every stamp, the same on all ranks. Otherwise, months
 * after the start of the machine, a double could not hold nanoseconds. */
extern time_t clock_origin_s;

static inline double clock_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - clock_origin_s) + 1e-9 * (double)now.tv_nsec;
}

/* The present time in whole seconds, for clock_origin_s. */
time_t clock_whole_seconds(void);

/* Give the core away for so many seconds. */
void clock_sleep(double seconds);

struct clock_facts clock_measure(void);

#endif
