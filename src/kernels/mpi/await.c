/* Wait outside MPI for a word that another rank writes, and leave no rank alone inside MPI. */
#include "mpi/await.h"

#include <math.h>
#include <sched.h>

#include "harness/clock.h"
#include "mpi/checked.h"

#define LOOKS 1000       /* at the word before the core is offered to another rank */
#define PATIENCE_S 10e-3 /* several ticks of a scheduler: a rank that lost its core may be back */

double await_word(const _Atomic uint64_t *word, uint64_t value, MPI_Comm communicator)
{
    double enter_s = NAN, first_s = NAN;
    for (long looks = 1; atomic_load(word) != value; looks++) {
        if (looks % LOOKS != 0) {
            continue;
        }
        const double now_s = clock_now_s();
        if (looks == LOOKS) {
            enter_s = now_s + PATIENCE_S;
        } else if (now_s > enter_s) {
            int arrived = 0;
            first_s = isnan(first_s) ? now_s : first_s;
            CHECKED(
                MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator, &arrived, MPI_STATUS_IGNORE));
        }
        sched_yield();
    }
    return first_s;
}
