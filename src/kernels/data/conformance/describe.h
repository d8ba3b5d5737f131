/* A cell as data: what a program needs that makes the same operations without the harness. */
#ifndef ONESIDED_CONFORMANCE_DESCRIBE_H
#define ONESIDED_CONFORMANCE_DESCRIBE_H

#include "data/conformance/plan.h"

/* On rank 0: append the first round of the cell as a line of JSON to the file of --describe-cells,
 * if this option is given. A file that cannot be written ends the launch. */
void describe_cell(const struct plan *plan);

#endif
