/* Which cells of progress can run, here and in general. */
#include "mpi/world.h"
#include "stfc/progress/experiment.h"

/* The reason why the standard, or this program, has no such cell; NULL if the cell can run. The
 * same on all ranks. */
static const char *contradiction(const struct experiment *experiment)
{
    const struct operation *operation = experiment->operation;
    const struct synchronisation *synchronisation = experiment->synchronisation;
    const bool contiguous = is_contiguous(experiment->slots.layout);
    if ((int)cell_number(experiment->cell, "size_bytes") % (int)sizeof(int64_t) != 0) {
        return "the payload is made of elements of 8 bytes: its size must be a multiple of 8";
    }
    if (operation->one_element && (experiment->slots.elements != 1 || !contiguous)) {
        return "the operation takes one element: 8 bytes, contiguous";
    }
    if (operation->request_based && synchronisation->kind != PASSIVE) {
        return "request-based operations belong to passive target epochs";
    }
    if (operation->request_based && synchronisation->completes_locally) {
        return "MPI_Wait has completed the operation locally: MPI_Win_flush_local adds nothing";
    }
    if (experiment->target_state->holds_lock_all && is_exclusive(synchronisation)) {
        return "the target polls inside lock_all: an exclusive lock would wait for its end";
    }
    if (experiment->target_state->holds_lock_all && synchronisation->kind != PASSIVE) {
        return "the target polls inside lock_all: its window can have no active epoch meanwhile";
    }
    if (experiment->target_state->has_ghost && synchronisation->kind != PASSIVE) {
        return "a ghost process serves passive target epochs";
    }
    if (experiment->target_state->has_ghost &&
        cell_choice(experiment->cell, "flavor") != &flavors[FLAVOR_ALLOCATE]) {
        return "a ghost process can share only memory that MPI allocates: flavor allocate";
    }
    return NULL;
}

bool is_supported(struct experiment *experiment)
{
    struct launch *launch = experiment->launch;
    struct record *record = experiment->record;
    const char *reason = contradiction(experiment);
    const bool has_ghost = experiment->target_state->has_ghost;
    const int needed = 1 + experiment->origins + experiment->bystanders + has_ghost;
    if (launch->ranks < needed) {
        record_status(record, CELL_UNSUPPORTED,
                      "a target, %d origins and %d bystanders%s need %d ranks: found %d",
                      experiment->origins, experiment->bystanders,
                      has_ghost ? " and a ghost process" : "", needed, launch->ranks);
    } else if (reason != NULL) {
        record_status(record, CELL_UNSUPPORTED, "%s", reason);
    } else if (experiment->target_state->helper != NULL &&
               !threads_may_call(launch, record, "a helper thread needs")) {
        return false;
    } else if (!launch->clock_is_global) {
        record_status(record, CELL_UNSUPPORTED,
                      "origin and target need one clock: expected all ranks on one machine");
    }
    return record->status == CELL_OK;
}
