/* Computing, with visits to MPI between slices of the work. */
#ifndef ONESIDED_PROBING_H
#define ONESIDED_PROBING_H

#include <stdatomic.h>
#include <stdint.h>

#include "harness/compute.h"

/* Do the work that takes length_s undisturbed, with an MPI_Iprobe each interval_s. Each probe is
 * counted in `visits`, unless it is NULL. */
struct compute_sample compute_probing(struct compute *compute, double length_s, double interval_s,
                                      _Atomic uint64_t *visits);

#endif
