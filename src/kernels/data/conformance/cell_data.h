/* A cell as data, for a program that makes the same operations without the harness. */
#ifndef ONESIDED_CONFORMANCE_CELL_DATA_H
#define ONESIDED_CONFORMANCE_CELL_DATA_H

#include "data/conformance/plan.h"

/* On rank 0: append the first round of the cell as a line of JSON to the file of --cell-data,
 * if this option is given. If the file cannot be written, a line on standard error says so. */
void cell_data_write(const struct plan *plan);

#endif
