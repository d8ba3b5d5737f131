/* Limits that an MPI library itself reports (MPI_T). */
#ifndef ONESIDED_REPORTED_H
#define ONESIDED_REPORTED_H

#include "harness/record.h"

/* Record each variable of this library that says at which size its sends change their protocol: a
 * series with the variable's name in small letters, and its value. */
void reported_limits(struct record *record);

#endif
