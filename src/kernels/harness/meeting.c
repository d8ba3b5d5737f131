/* Accesses that meet a computing rank. */
#include "harness/meeting.h"

#define LEAD 0.05 /* share of a compute after which the other ranks begin their accesses */

bool meeting_is_supported(const struct launch *launch, struct record *record)
{
    if (!launch->clock_is_global) {
        record_status(record, CELL_UNSUPPORTED,
                      "a rank that computes needs one clock: expected all ranks on one machine");
    }
    return launch->clock_is_global;
}

void meeting_take(const struct meetings *meeting)
{
    struct launch *launch = meeting->launch;
    const bool computes = meeting->part == COMPUTES;
    struct series *begin = NULL, *length = NULL;
    if (meeting->part != LOOKS_ON) {
        begin = record_series(meeting->record, computes ? "compute_begin" : "access_begin", "s", 1);
        length = record_series(meeting->record, computes ? "compute" : "access", "s", 1);
    }
    const double start_s = launch_common_start(launch);
    for (long long i = 0; i < meeting->samples; i++) {
        meeting->prepare(meeting->state);
        const struct compute_sample sample =
            computes && meeting->compute != NULL
                ? meeting->compute(meeting->state, meeting->compute_s)
                : compute_for(&launch->compute, (computes ? 1 : LEAD) * meeting->compute_s);
        const double begin_s = computes ? sample.begin_s : clock_now_s();
        meeting->go(meeting->state);
        const double end_s = computes ? sample.end_s : clock_now_s();
        meeting->conclude(meeting->state);
        if (begin != NULL) {
            series_add(begin, begin_s - start_s);
            series_add(length, end_s - begin_s);
        }
    }
}
