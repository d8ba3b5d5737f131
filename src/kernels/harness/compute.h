/* Computing: fixed work, calibrated to a requested length on its core.
 *
 * The target does this work while it is outside MPI: no MPI call, no sleep, no memory traffic. As
 * in an application, the work is fixed and not the time: a disturbed core takes longer. Each time
 * the actual length is recorded, and how long the thread waited for its core meanwhile. */
#ifndef ONESIDED_COMPUTE_H
#define ONESIDED_COMPUTE_H

#include <stdint.h>

struct compute {
    double iterations_per_second; /* of this core, undisturbed */
    volatile uint64_t consumed;   /* takes the result: the compiler must not remove the work */
};

struct compute_sample {
    double begin_s; /* stamps of clock_now_s */
    double end_s;
    double run_delay_s;          /* waited on a run queue meanwhile; NAN if unknown */
    double involuntary_switches; /* context switches that the thread did not ask for */
};

/* Calibrate on the calling core (about 10 ms). All ranks call it at once, as they compute at
 * once. */
void compute_calibrate(struct compute *compute);

/* Seconds that the calling thread has waited on a run queue since it began; NAN if unknown. */
double run_delay_s(void);

/* Do the work that takes length_s if nothing disturbs it. */
struct compute_sample compute_for(struct compute *compute, double length_s);

/* The same in parts, for slices of work with other calls between them. The operating system is
 * asked once before and once after all slices; a slice is nothing but work. */
struct compute_sample compute_begin(void);
void compute_slice(struct compute *compute, double length_s);
void compute_end(struct compute_sample *sample);

/* How many operations the calling core does at a time (takes some 4 µs): the least rate of
 * independent operations divided by the greatest rate of additions that wait for each other, to a
 * thousandth. The number falls while another hardware thread of the core runs, even a thread of
 * another guest of the host, which no program here sees. After an interrupt the number seems lower,
 * too. */
double core_width(void);

/* The next number in [0, 1) of a seeded generator (splitmix64). */
double random_unit(uint64_t *state);

#endif
