/* Operations: what the origin does to the target's window. Every MPI call that accesses it is here.
 */
#include "harness/watchdog.h"
#include "progress/experiment.h"

#define LOCAL(buffer) (buffer), experiment->elements, MPI_INT64_T
#define REMOTE                                                                                     \
    experiment->target, experiment->displacement, experiment->type_count, experiment->type

static void issue_put(struct experiment *experiment)
{
    CHECKED(MPI_Put(LOCAL(experiment->payload), REMOTE, experiment->window));
}

static void issue_get(struct experiment *experiment)
{
    CHECKED(MPI_Get(LOCAL(experiment->result), REMOTE, experiment->window));
}

static void issue_accumulate(struct experiment *experiment)
{
    CHECKED(MPI_Accumulate(LOCAL(experiment->payload), REMOTE, MPI_SUM, experiment->window));
}

static void issue_get_accumulate(struct experiment *experiment)
{
    CHECKED(MPI_Get_accumulate(LOCAL(experiment->payload), LOCAL(experiment->result), REMOTE,
                               MPI_SUM, experiment->window));
}

static void issue_fetch_and_op(struct experiment *experiment)
{
    CHECKED(MPI_Fetch_and_op(experiment->payload, experiment->result, MPI_INT64_T,
                             experiment->target, experiment->displacement, MPI_SUM,
                             experiment->window));
}

static void issue_compare_and_swap(struct experiment *experiment)
{
    CHECKED(MPI_Compare_and_swap(experiment->payload, &experiment->compared, experiment->result,
                                 MPI_INT64_T, experiment->target, experiment->displacement,
                                 experiment->window));
}

static void issue_rput(struct experiment *experiment)
{
    CHECKED(MPI_Rput(LOCAL(experiment->payload), REMOTE, experiment->window, &experiment->request));
}

static void issue_rget(struct experiment *experiment)
{
    CHECKED(MPI_Rget(LOCAL(experiment->result), REMOTE, experiment->window, &experiment->request));
}

static void issue_raccumulate(struct experiment *experiment)
{
    CHECKED(MPI_Raccumulate(LOCAL(experiment->payload), REMOTE, MPI_SUM, experiment->window,
                            &experiment->request));
}

static void issue_rget_accumulate(struct experiment *experiment)
{
    CHECKED(MPI_Rget_accumulate(LOCAL(experiment->payload), LOCAL(experiment->result), REMOTE,
                                MPI_SUM, experiment->window, &experiment->request));
}

static void nothing(struct experiment *experiment)
{
    (void)experiment;
}

static void wait_for_request(struct experiment *experiment)
{
    CHECKED(MPI_Wait(&experiment->request, MPI_STATUS_IGNORE));
}

const struct operation operations[] = {
    {"put", REPLACES, false, false, issue_put, nothing},
    {"get", KEEPS, true, false, issue_get, nothing},
    {"accumulate", ADDS, false, false, issue_accumulate, nothing},
    {"get_accumulate", ADDS, true, false, issue_get_accumulate, nothing},
    {"fetch_and_op", ADDS, true, true, issue_fetch_and_op, nothing},
    {"compare_and_swap", REPLACES, true, true, issue_compare_and_swap, nothing},
    {"rput", REPLACES, false, false, issue_rput, wait_for_request},
    {"rget", KEEPS, true, false, issue_rget, wait_for_request},
    {"raccumulate", ADDS, false, false, issue_raccumulate, wait_for_request},
    {"rget_accumulate", ADDS, true, false, issue_rget_accumulate, wait_for_request},
};

bool is_request_based(const struct operation *operation)
{
    return operation->wait == wait_for_request;
}
