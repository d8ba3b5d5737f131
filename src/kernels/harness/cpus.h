/* Sets of CPUs: which this process may use, which the machine has, and their cores. */
#ifndef ONESIDED_CPUS_H
#define ONESIDED_CPUS_H

#include <stdbool.h>

#define CPUS_MAX 4096

/* A set has CPUS_MAX bits, one for each CPU. The functions that read or set add to a set. */
bool cpus_has(const unsigned char *mask, int bit);
int cpus_count(const unsigned char *mask);

/* A list as the system writes it: 0-3,8. */
void cpus_set_listed(unsigned char *mask, const char *list);

/* The cores of these CPUs; the number of a core is that of its lowest CPU. */
void cpus_set_cores(unsigned char *cores, const unsigned char *cpus);

/* The CPUs that this process may run on, and the cores that the machine has, usable or not. */
void cpus_read_allowed(unsigned char *mask);
void cpus_read_existing(unsigned char *cores);

/* Move the calling thread to the CPU of this number among those it may run on, in turn. From there
 * the scheduler may move it again. */
void cpus_move_to(int number);

#endif
