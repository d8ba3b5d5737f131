/* Computing, with visits to MPI between slices of the work. */
#include "mpi/probing.h"

#include <math.h>
#include <mpi.h>

#include "mpi/checked.h"
#include "mpi/world.h"

/* Only bare work between two probes: the calls around a compute would lengthen every slice. */
struct compute_sample compute_probing(struct compute *compute, double length_s, double interval_s,
                                      _Atomic uint64_t *visits)
{
    const long slices = lround(fmax(1.0, length_s / interval_s));
    struct compute_sample sample = compute_begin();
    for (long slice = 0; slice < slices; slice++) {
        if (slice > 0) {
            int arrived = 0;
            CHECKED(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world_communicator, &arrived,
                               MPI_STATUS_IGNORE));
            if (visits != NULL) {
                atomic_fetch_add(visits, 1);
            }
        }
        compute_slice(compute, length_s / (double)slices);
    }
    compute_end(&sample);
    return sample;
}
