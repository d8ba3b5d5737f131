/* A barrier of threads that give their cores away while they wait: a mutex and a condition
 * variable.
 *
 * Source: Marcelo Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM
 * SG24-5611, 1999), section 4.2.4, Figure 35. */
#ifndef ONESIDED_THREAD_BARRIER_H
#define ONESIDED_THREAD_BARRIER_H

#include <pthread.h>
#include <stdint.h>

struct thread_barrier {
    pthread_mutex_t lock;
    pthread_cond_t is_complete;
    int threads; /* that meet */
    int arrived;
    uint64_t round;
};

void thread_barrier_open(struct thread_barrier *barrier, int threads);
void thread_barrier_close(struct thread_barrier *barrier);

/* Wait until all threads have come; it can be used again at once. */
void thread_barrier_wait(struct thread_barrier *barrier);

#endif
