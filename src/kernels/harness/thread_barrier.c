/* A barrier of threads that give their cores away while they wait. */
#include "harness/thread_barrier.h"

void thread_barrier_open(struct thread_barrier *barrier, int threads)
{
    pthread_mutex_init(&barrier->lock, NULL);
    pthread_cond_init(&barrier->is_complete, NULL);
    barrier->threads = threads;
    barrier->arrived = 0;
    barrier->round = 0;
}

void thread_barrier_close(struct thread_barrier *barrier)
{
    pthread_cond_destroy(&barrier->is_complete);
    pthread_mutex_destroy(&barrier->lock);
}

void thread_barrier_wait(struct thread_barrier *barrier)
{
    pthread_mutex_lock(&barrier->lock);
    const uint64_t round = barrier->round;
    if (++barrier->arrived == barrier->threads) {
        barrier->arrived = 0;
        barrier->round++;
        pthread_cond_broadcast(&barrier->is_complete);
    }
    while (barrier->round == round) { /* a thread may wake up without a signal */
        pthread_cond_wait(&barrier->is_complete, &barrier->lock);
    }
    pthread_mutex_unlock(&barrier->lock);
}
