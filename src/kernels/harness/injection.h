/* Faults put into one cell (--inject KIND@INDEX) or into all (KIND@every), for tests. */
#ifndef ONESIDED_INJECTION_H
#define ONESIDED_INJECTION_H

#include <stdbool.h>
#include <stdint.h>

struct cell;
struct launch;

enum injection {
    INJECT_NOTHING,
    INJECT_WRONG_DATA, /* in the first sample alone */
    INJECT_DROP,       /* in each sample and burst, its last operation: it is as if it was not */
    INJECT_REPEAT,     /*   made, as if the one before was made again in its place (or it, too), */
    INJECT_FLIP,       /*   or one bit of one element is another */
    INJECT_IN_TURN,    /* the three of these, from cell to cell */
    INJECT_CRASH,
    INJECT_FAULT,
    INJECT_ERROR,
    INJECT_FATAL,
    INJECT_HANG,
    INJECT_SLOW,
    INJECT_SHARED
};

/* Read --inject into the launch, whose grid is there; a fault ends the process with exit code 2. */
void injection_read(struct launch *launch);

/* Commit the injected fault of this cell, if it has one; a kernel calls it where its timed section
 * begins. Rank 0 is the one that hangs, the last rank the one that crashes: by abort(), by a fault
 * of memory, or of an MPI error that is fatal. */
void launch_inject(const struct launch *launch, const struct cell *cell);
bool launch_injects(const struct launch *launch, const struct cell *cell, enum injection kind);

/* One of INJECT_DROP, INJECT_REPEAT and INJECT_FLIP where it is asked for in this cell, else
 * INJECT_NOTHING. What these do to a number that an operation fetched, or counted: `before` is that
 * of the operation before. */
enum injection launch_fault(const struct launch *launch, const struct cell *cell);
int64_t faulty_number(enum injection fault, int64_t number, int64_t before);

/* The end of what took from begin_s to end_s: that, or where INJECT_SLOW is asked for, once three
 * times as long is past. */
double launch_slowed(const struct launch *launch, const struct cell *cell, double begin_s,
                     double end_s);

/* Seconds from begin_s to now, slowed alike. */
double launch_passed_s(const struct launch *launch, const struct cell *cell, double begin_s);

#endif
