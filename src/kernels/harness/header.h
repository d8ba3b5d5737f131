/* The header line: everything that is true of the launch. */
#ifndef ONESIDED_HEADER_H
#define ONESIDED_HEADER_H

#include "harness/launch.h"

/* Collective: rank 0 gets the line in `json`. */
void header_write(struct json *json, const struct launch *launch);

#endif
