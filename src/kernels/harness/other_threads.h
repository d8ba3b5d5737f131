/* The other threads of this process: do they need cores, as a library's progress threads do? Many
 * libraries have threads that sleep and need no core. */
#ifndef ONESIDED_OTHER_THREADS_H
#define ONESIDED_OTHER_THREADS_H

/* Seconds that all threads of this process but the calling one have run, or have waited for a core;
 * 0 if the system does not tell. */
double other_threads_s(void);

/* How many of them ran or waited all the time, if other_threads_s was before_s passed_s ago. */
int other_threads_busy(double before_s, double passed_s);

#endif
