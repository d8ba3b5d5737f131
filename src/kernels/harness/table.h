/* A table for a person: what is the same in those of all kernels. */
#ifndef ONESIDED_TABLE_H
#define ONESIDED_TABLE_H

#include "harness/launch.h"

/* At one rank: a line that says which MPI, how many ranks and cores, which thread level. */
void table_print_launch(const struct launch *launch);

/* At one rank: where a cell is not ok, end its row with its status and the reason. */
bool table_print_status(const struct record *record);

/* What stands behind a time: a blank, or a mark where a rank waited for a core too long. */
char table_mark(const struct waits *waits);

/* Keep what the last line says of a row that has a mark. `oversubscribed`: the row has more threads
 * than there are cores. */
void table_note_waits(const struct record *record, bool oversubscribed);

/* At one rank, where a row has a mark: what the mark means, and what was seen. */
void table_print_foot(void);

#endif
