/* Meetings: accesses to a rank that computes. */
#include "dinan/shared/meeting.h"

#include "harness/watchdog.h"
#include "mpi/checked.h"
#include "mpi/world.h"

#define LEAD 0.05 /* of a compute */

const struct target_state target_states[] = {{"idle", false}, {"computes", true}};

bool has_one_clock(const struct launch *launch, struct record *record)
{
    if (!launch->clock_is_global) {
        record_status(record, CELL_UNSUPPORTED,
                      "a rank that computes needs one clock: expected all ranks on one machine");
    }
    return launch->clock_is_global;
}

double lead_s(double length_s)
{
    return LEAD * length_s;
}

/* At rank 0 when it computed, at another rank when it accessed. */
static struct compute_sample take_part(const struct meetings *meetings)
{
    struct launch *launch = meetings->launch;
    if (launch->rank == TARGET) {
        const struct compute_sample sample =
            meetings->compute != NULL ? meetings->compute(meetings->state, meetings->length_s)
                                      : compute_for(&launch->compute, meetings->length_s);
        if (meetings->follow != NULL) {
            meetings->follow(meetings->state);
        }
        return sample;
    }
    compute_for(&launch->compute, lead_s(meetings->length_s));
    struct compute_sample sample = {.begin_s = clock_now_s()};
    meetings->access(meetings->state);
    sample.end_s = launch_slowed(launch, meetings->cell, sample.begin_s, clock_now_s());
    return sample;
}

void meetings_take(const struct meetings *meetings)
{
    struct launch *launch = meetings->launch;
    struct record *record = meetings->record;
    const bool computes = launch->rank == TARGET;
    struct series *begin =
        record_series(record, computes ? "compute_begin" : "access_begin", "s", 1);
    struct series *length = record_series(record, computes ? "compute" : "access", "s", 1);
    struct series *behind = computes ? NULL : record_series(record, "behind", "flag", 1);
    const double start_s = launch_common_start(launch);
    for (long long i = 0; i < options_integer(&launch->options, "meetings"); i++) {
        watchdog_phase = "prepare";
        meetings->prepare(meetings->state, 1);
        CHECKED(MPI_Barrier(world_communicator));
        watchdog_phase = "meeting";
        const struct compute_sample sample = take_part(meetings);
        watchdog_phase = "wait";
        CHECKED(MPI_Barrier(world_communicator));
        meetings->check(meetings->state, 1);
        series_add(begin, sample.begin_s - start_s);
        series_add(length, sample.end_s - sample.begin_s);
        if (behind != NULL) {
            series_add(behind, meetings->is_behind);
        }
    }
}
