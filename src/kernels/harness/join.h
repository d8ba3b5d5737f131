/* What the ranks found in a cell, joined: its status, its checks, its series. All collective. */
#ifndef ONESIDED_JOIN_H
#define ONESIDED_JOIN_H

#include "harness/json.h"
#include "harness/launch.h"

/* Give all ranks the sums of all ranks' checks, by the names of the checks. An error of any rank
 * makes the cell's data wrong. */
void join_verifications(const struct launch *launch, struct record *record);

/* Let all ranks take the worst status and the detail of the rank that has it. */
void join_status(const struct launch *launch, struct record *record);

/* Rank 0 gets the series of all ranks, joined in `all`. */
void join_series(const struct launch *launch, const struct record *record, struct json *all);

#endif
