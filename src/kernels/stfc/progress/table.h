/* The table for a person (struct kernel's print_head and print_row). */
#ifndef ONESIDED_PROGRESS_TABLE_H
#define ONESIDED_PROGRESS_TABLE_H

#include "harness/launch.h"

void table_print_head(const struct launch *launch);
void table_print_row(const struct launch *launch, const struct cell *cell,
                     const struct record *record);

#endif
