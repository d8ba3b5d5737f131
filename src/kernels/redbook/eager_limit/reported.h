/* Limits that an MPI library reports of itself (MPI_T). */
#ifndef ONESIDED_REPORTED_H
#define ONESIDED_REPORTED_H

#include "harness/record.h"

/* Keep each variable that this library has and that says where its sends change their protocol: a
 * series with its name in small letters and its value. */
void reported_limits(struct record *record);

#endif
