/* A round of a cell: fill, access in an epoch, and compare after each completion that allows it. */
#ifndef ONESIDED_CONFORMANCE_ROUND_H
#define ONESIDED_CONFORMANCE_ROUND_H

#include "data/conformance/model.h"

struct trip {
    struct plan *plan;
    struct window windows[WINDOWS_MAX];
    unsigned char *origin, *result; /* of this rank's operations, in slots */
    unsigned char *compare;
    struct verification at_target, at_origin, at_result;
    double passed_s; /* at an origin: from the first call until the operations are complete */
};

/* Collective: open the windows, and close them. */
struct trip trip_open(struct plan *plan);
void trip_close(struct trip *trip);

/* Collective: make all operations of a round in one window, and verify them. */
void trip_run(struct trip *trip, int window);

/* Compare this rank's part of a window again: epochs in other windows must not have changed it. */
void trip_look_again(struct trip *trip, int window);

#endif
