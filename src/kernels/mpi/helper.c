/* Helper threads: a second thread of a rank that stays inside MPI, so that MPI may progress. */
#include "mpi/helper.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/checked.h"
#include "mpi/team.h"

#define RELEASE_TAG 7

static void connect_to_all(struct helper *helper)
{
    CHECKED(MPI_Comm_dup(helper->parent, &helper->communicator));
}

static void connect_to_itself(struct helper *helper)
{
    int rank = 0;
    CHECKED(MPI_Comm_rank(helper->parent, &rank));
    CHECKED(MPI_Comm_split(helper->parent, rank, 0, &helper->communicator));
}

static int receive_release(struct helper *helper)
{
    int message = 0;
    return MPI_Recv(&message, 1, MPI_INT, helper->own_rank, RELEASE_TAG, helper->communicator,
                    MPI_STATUS_IGNORE);
}

static int probe_until_release(struct helper *helper)
{
    for (int arrived = 0; !arrived;) {
        const int code = MPI_Iprobe(helper->own_rank, RELEASE_TAG, helper->communicator, &arrived,
                                    MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS) {
            return code;
        }
    }
    return receive_release(helper);
}

static int send_to_itself(struct helper *helper)
{
    const int message = 0;
    return MPI_Send(&message, 1, MPI_INT, helper->own_rank, RELEASE_TAG, helper->communicator);
}

static void release_by_send(struct helper *helper)
{
    /* A helper that has returned receives nothing, and the send might never end. */
    if (!atomic_load(&helper->returned)) {
        CHECKED(send_to_itself(helper));
    }
}

static void release_by_receive(struct helper *helper)
{
    CHECKED(receive_release(helper));
}

const struct helper_kind helper_blocked = {"helper_blocked", connect_to_all, receive_release,
                                           release_by_send};
const struct helper_kind helper_polling = {"helper_polling", connect_to_all, probe_until_release,
                                           release_by_send};
const struct helper_kind helper_send = {"helper_send", connect_to_itself, send_to_itself,
                                        release_by_receive};

static void *helper_main(void *argument)
{
    struct helper *helper = argument;
    atomic_store(&helper->entered, true);
    atomic_store(&helper->code, helper->kind->wait(helper));
    atomic_store(&helper->returned, true);
    return NULL;
}

static void start_thread(struct helper *helper)
{
    helper->thread = team_start(helper_main, helper);
    while (!atomic_load(&helper->entered)) {
        sched_yield();
    }
}

static void make_communicator(struct helper *helper, const struct helper_kind *kind,
                              MPI_Comm parent)
{
    *helper = (struct helper){.kind = kind, .parent = parent};
    kind->connect(helper);
    CHECKED(MPI_Comm_set_errhandler(helper->communicator, MPI_ERRORS_RETURN));
    CHECKED(MPI_Comm_rank(helper->communicator, &helper->own_rank));
}

void helper_start(struct helper *helper, const struct helper_kind *kind, MPI_Comm parent)
{
    make_communicator(helper, kind, parent);
    helper->present = true;
    start_thread(helper);
}

void helper_start_at(struct helper *helper, const struct helper_kind *kind, MPI_Comm parent,
                     int only_rank)
{
    int rank = 0;
    make_communicator(helper, kind, parent);
    CHECKED(MPI_Comm_rank(parent, &rank));
    helper->present = rank == only_rank;
    if (helper->present) {
        start_thread(helper);
    }
}

static bool release_and_join(struct helper *helper)
{
    const bool returned_early = atomic_load(&helper->returned);
    helper->kind->release(helper);
    pthread_join(helper->thread, NULL);
    if (atomic_load(&helper->code) != MPI_SUCCESS) {
        mpi_failed(helper->kind->name, atomic_load(&helper->code));
    }
    return returned_early;
}

bool helper_stop(struct helper *helper)
{
    const bool returned_early = helper->present && release_and_join(helper);
    CHECKED(MPI_Comm_free(&helper->communicator));
    return returned_early;
}
