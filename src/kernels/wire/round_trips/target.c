/* What the target does during an access, how it reports the end, and which cells can run. */
#include <mpi.h>

#include "mpi/checked.h"
#include "mpi/probing.h"
#include "mpi/world.h"
#include "rma/ghost.h"
#include "wire/round_trips/experiment.h"

#define PROBE_INTERVAL_S 100e-6
#define END 1 /* a tag; the messages there and back have the tag 0 */

const struct target_state target_states[] = {
    {.name = "idle"},
    {.name = "computes", .computes = true},
    {.name = "computes_probing", .computes = true, .probes = true},
    {.name = "helper_blocked", .computes = true, .helper = &helper_blocked},
    {.name = "ghost_process", .computes = true, .has_ghost = true},
};

double stay(struct experiment *experiment)
{
    struct launch *launch = experiment->slots.launch;
    const double length_s = 1e-3 * options_number(&launch->options, "compute-ms");
    if (!experiment->state->computes) {
        return clock_now_s();
    }
    const struct compute_sample sample =
        experiment->state->probes
            ? compute_probing(&launch->compute, length_s, PROBE_INTERVAL_S, NULL)
            : compute_for(&launch->compute, length_s);
    return sample.end_s;
}

double tell_end(const struct experiment *experiment, double end_s)
{
    if (!experiment->state->computes) {
        return end_s;
    }
    if (experiment->is_origin) {
        CHECKED(
            MPI_Recv(&end_s, 1, MPI_DOUBLE, TARGET, END, world_communicator, MPI_STATUS_IGNORE));
    } else {
        CHECKED(
            MPI_Send(&end_s, 1, MPI_DOUBLE, experiment->messages.origin, END, world_communicator));
    }
    return end_s;
}

/* Return the reason if MPI does not allow the cell, or if the cell has no meaning; else NULL. */
static const char *contradiction(const struct experiment *experiment)
{
    const struct operation *operation = experiment->slots.makes;
    const struct synchronisation *synchronisation = experiment->synchronisation;
    if (operation->one_element && experiment->slots.elements != 1) {
        return "the operation takes one element: 8 bytes";
    }
    if (operation->request_based && synchronisation->kind != PASSIVE) {
        return "request-based operations belong to passive target epochs";
    }
    if (operation->request_based && synchronisation->completes_locally) {
        return "MPI_Wait has completed the operation locally: MPI_Win_flush_local adds nothing";
    }
    if (experiment->state->has_ghost && synchronisation->kind != PASSIVE) {
        return "a ghost process serves passive target epochs";
    }
    if (experiment->state->has_ghost && experiment->slots.flavor != &flavors[FLAVOR_ALLOCATE]) {
        return "a ghost process can share only memory that MPI allocates: flavor allocate";
    }
    return NULL;
}

bool is_supported(const struct experiment *experiment)
{
    struct record *record = experiment->slots.record;
    struct launch *launch = experiment->slots.launch;
    const char *reason = contradiction(experiment);
    const int needed = 2 + experiment->state->has_ghost;
    if (launch->ranks < needed) {
        record_status(record, CELL_UNSUPPORTED,
                      "a target, an origin and a ghost process need %d ranks: found %d", needed,
                      launch->ranks);
    } else if (reason != NULL) {
        record_status(record, CELL_UNSUPPORTED, "%s", reason);
    } else if (experiment->state->computes && !launch->clock_is_global) {
        record_status(record, CELL_UNSUPPORTED,
                      "origin and target need one clock: expected all ranks on one machine");
    } else if (experiment->state->helper != NULL) {
        return threads_may_call(launch, record, "a helper thread needs");
    }
    return record->status == CELL_OK;
}
