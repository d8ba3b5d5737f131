/* What a kernel is, as data: for a program that has no list of its own. */
#ifndef ONESIDED_DESCRIBE_H
#define ONESIDED_DESCRIBE_H

#include "harness/launch.h"

/* Print a JSON object: name, summary, axes (values or limits, default, with which values of another
 * axis they have a meaning), and the options, which are not the axes. */
void describe(const struct kernel *kernel, const struct options *options);

#endif
