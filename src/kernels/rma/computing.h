/* What rank 0 does while the others access it: a row of an axis with two rows. */
#ifndef ONESIDED_COMPUTING_H
#define ONESIDED_COMPUTING_H

#include <stdbool.h>

struct target_state {
    const char *name;
    bool computes;
};

static const struct target_state idle_or_computes[] = {{"idle", false}, {"computes", true}};

#define IDLE_OR_COMPUTES_AXIS                                                                      \
    CHOICE_AXIS("target_state", "what rank 0 does meanwhile", "idle,computes", idle_or_computes)

#endif
