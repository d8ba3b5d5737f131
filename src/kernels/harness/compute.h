/* Computing: fixed work, calibrated to a requested length on the core it runs on.
 *
 * No MPI call, no sleep, no memory traffic: what the target does while it is not in MPI. The work
 * is fixed, not the time, as in an application: what disturbs the core makes it longer, and the
 * actual length is recorded each time with what the operating system did meanwhile. */
#ifndef ONESIDED_COMPUTE_H
#define ONESIDED_COMPUTE_H

#include <stdint.h>

struct compute {
    double iterations_per_second; /* of this core, undisturbed */
    volatile uint64_t consumed;   /* the result goes here, so that the work cannot be left out */
};

struct compute_sample {
    double begin_s; /* stamps of clock_now_s */
    double end_s;
    double run_delay_s;          /* waited on a run queue meanwhile; NAN where not told */
    double involuntary_switches; /* context switches the thread did not ask for */
};

/* Calibrate on the calling core (about 10 ms); call it on all ranks at once, as they compute. */
void compute_calibrate(struct compute *compute);

/* Seconds the calling thread has waited on a run queue since it began; NAN where not told. */
double run_delay_s(void);

/* Do the work that takes length_s undisturbed. */
struct compute_sample compute_for(struct compute *compute, double length_s);

/* The same in parts, for work in slices with something else between them: what the operating system
 * did is asked once before and once after, and a slice is bare work. */
struct compute_sample compute_begin(void);
void compute_slice(struct compute *compute, double length_s);
void compute_end(struct compute_sample *sample);

/* How many operations the calling core does at a time just now (some 4 µs): the least rate of
 * independent ones over the greatest of additions that wait for each other, to a thousandth. A core
 * that has several threads does fewer for each while another runs, be it of a program that cannot
 * be seen, as of another guest of the same host. One that is interrupted seems to do fewer. */
double core_width(void);

/* A number in [0, 1) from a seeded generator (splitmix64); the state moves on. */
double random_unit(uint64_t *state);

#endif
