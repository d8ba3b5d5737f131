/* Room for the operations of a burst: each has its own slot for the data it sends and receives. */
#ifndef ONESIDED_SLOTS_ROOM_H
#define ONESIDED_SLOTS_ROOM_H

#include "harness/launch.h"
#include "mpi/trial.h"

/* Rows of a kernel's options. */
#define SLOT_OPTIONS                                                                               \
    TRIAL_OPTIONS("1000", "20", "0.1"),                                                            \
        INTEGER_OPTION("burst-bytes", "BYTES",                                                     \
                       "a burst has as many passes as these hold at a rank, but one at least",     \
                       "262144", 1, 1LL << 40),                                                    \
        {.name = "memory-bytes",                                                                   \
         .argument = "BYTES",                                                                      \
         .help = "a cell whose pass needs more at a rank is unsupported; by default an eighth of " \
                 "the rank's share of its machine's memory",                                       \
         .kind = OPTION_INTEGER,                                                                   \
         .minimum = 1,                                                                             \
         .maximum = 1LL << 40}

/* Return how many passes of pass_bytes a burst may have, the same on all ranks; 0, with the reason
 * in the record, if there is no room for one. */
int slots_choose(const struct launch *launch, struct record *record, long long pass_bytes);

#endif
