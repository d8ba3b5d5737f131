/* The order of the calls of slots/. */
#include <stdio.h>
#include <stdlib.h>

#include "slots/inside.h"
#include "slots/slots.h"

void expect_stage(const struct slots *slots, enum stage stage, const char *call)
{
    static const char *const calls[] = {
        [DESCRIBED] = "slots_of", [OPEN] = "slots_open", [PREPARED] = "slots_prepare"};
    if (slots->stage != (int)stage) {
        fprintf(stderr, "%s: expected after %s, found after %s\n", call, calls[stage],
                calls[slots->stage]);
        abort();
    }
}
