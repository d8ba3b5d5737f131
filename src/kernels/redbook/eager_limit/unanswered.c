/* How many messages of the eager limit's size are sent before a send waits for a receive. */
#include "redbook/eager_limit/unanswered.h"

#include <string.h>

#include "harness/share.h"
#include "mpi/checked.h"
#include "mpi/world.h"

#define MESSAGE_TAG 0 /* as of all messages to a late receiver */
#define END_TAG 5     /* of the number of messages, after the last message */
#define PARTS_OF_MEMORY 8
#define MESSAGES_MOST (1 << 18)
#define UNANSWERED_S 5.0 /* for all: on a busy machine each may wait for a time slice */

struct plan {
    long long size, most; /* bytes of a message; number of messages */
};

/* Both ranks; `most` is 0 if there is nothing to send. */
static struct plan plan_of(const struct late *late, long long limit)
{
    const long long memory = (long long)share_of_memory(&late->launch->host) / PARTS_OF_MEMORY;
    long long bytes = options_integer(&late->launch->options, "unanswered-bytes");
    struct plan plan = {.size = limit};
    if (limit == 0 || late->page == NULL) {
        return plan;
    }
    plan.size = limit < UNANSWERED_BYTES_MOST ? limit : UNANSWERED_BYTES_MOST;
    bytes = bytes < memory ? bytes : memory;
    plan.most = bytes / plan.size < MESSAGES_MOST ? bytes / plan.size : MESSAGES_MOST;
    return plan;
}

/* THE CALLS THAT ARE WATCHED. */
void unanswered_send(struct late *late, long long limit)
{
    const struct plan plan = plan_of(late, limit);
    long long sent = 0;
    while (sent < plan.most && !atomic_load(&late->page->is_over)) {
        late->number++;
        late_fill(late, plan.size);
        atomic_store(&late->page->begun, late->number);
        late->call->once(late, plan.size);
        atomic_store(&late->page->returned, late->number);
        sent++;
    }
    if (plan.most > 0) {
        CHECKED(MPI_Send(&sent, 1, MPI_LONG_LONG, RECEIVER, END_TAG, world_communicator));
    }
}

/* Messages of one rank arrive in order, so the message with END_TAG comes last. */
static void receive_all(struct late *late, long long size)
{
    const uint64_t first = late->number;
    MPI_Status status;
    CHECKED(MPI_Probe(SENDER, MPI_ANY_TAG, world_communicator, &status));
    while (status.MPI_TAG == MESSAGE_TAG) {
        late->number++;
        memset(late->result, 0xff, late_bytes(size));
        CHECKED(MPI_Recv(late->result, (int)size, MPI_BYTE, SENDER, MESSAGE_TAG, world_communicator,
                         MPI_STATUS_IGNORE));
        late_compare(late, size);
        CHECKED(MPI_Probe(SENDER, MPI_ANY_TAG, world_communicator, &status));
    }
    long long sent = 0;
    CHECKED(
        MPI_Recv(&sent, 1, MPI_LONG_LONG, SENDER, END_TAG, world_communicator, MPI_STATUS_IGNORE));
    verify_element(&late->found, (int64_t)(late->number - first), sent, 0, late->number);
}

void unanswered_receive(struct late *late, struct record *record, long long limit)
{
    const struct plan plan = plan_of(late, limit);
    const uint64_t first = late->number;
    if (plan.most == 0) {
        return;
    }
    late->delay_s = 1e-3 * options_number(&late->launch->options, "patience-ms");
    const double end_s = clock_now_s() + UNANSWERED_S;
    bool waited = false;
    long long returned = 0;
    while (returned < plan.most && !waited && clock_now_s() < end_s) {
        late->number++;
        waited = !late_wait(late);
        returned += !waited;
    }
    atomic_store(&late->page->is_over, true);
    late->number = first;
    receive_all(late, plan.size);
    series_add(record_series(record, "unanswered", "count", 1), (double)returned);
    series_add(record_series(record, "unanswered_bytes", "count", 1),
               (double)(returned * plan.size));
    series_add(record_series(record, "unanswered_waited", "flag", 1), waited);
}
