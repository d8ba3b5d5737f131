/* A table for a person: what is the same in those of all kernels. */
#ifndef ONESIDED_TABLE_H
#define ONESIDED_TABLE_H

#include "harness/launch.h"

/* At one rank: a line that says which MPI, how many ranks and cores, which thread level. */
void table_print_launch(const struct launch *launch);

/* At one rank: where a cell is not ok, end its row with its status and the reason. */
bool table_print_status(const struct record *record);

#endif
