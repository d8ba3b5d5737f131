/* The other threads of this process: do they want cores, as those of a library that makes progress
 * by itself do? Many libraries have threads that sleep; those take nothing from anybody. */
#ifndef ONESIDED_OTHER_THREADS_H
#define ONESIDED_OTHER_THREADS_H

/* Seconds that all threads of this process but the calling one have run, or have waited for a core;
 * 0 where the system does not tell. */
double other_threads_s(void);

/* How many of them were at it all the time, where those seconds were `before_s` so long ago. */
int other_threads_busy(double before_s, double passed_s);

#endif
