/* What a kernel is, as data, for programs that have no list of its axes and options. */
#ifndef ONESIDED_DESCRIBE_H
#define ONESIDED_DESCRIBE_H

#include "harness/launch.h"

/* Print a JSON object: name, summary, axes (values or limits, default, with which values of another
 * axis they have a meaning), and the options, which are not the axes. */
void describe(const struct kernel *kernel, const struct options *options);

#endif
