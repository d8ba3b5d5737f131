/* Messages between two ranks in each step, beside the output of the step before. */
#include <stdlib.h>

#include "harness/memory.h"
#include "mpi/checked.h"
#include "mpi/world.h"
#include "redbook/overlapped_output/output.h"
#include "slots/messages.h"

/* ---- THE TIMED LOOP ---- */

/* Send as many bytes as the output has to the peer, and receive as many. */
void exchange_step(struct output *own, long long step)
{
    const struct traffic *traffic = &own->traffic;
    const int elements = traffic->elements;
    size_t place = (size_t)step * (size_t)traffic->messages * (size_t)elements;
    for (int i = 0; i < traffic->messages; i++) {
        CHECKED(MPI_Sendrecv(traffic->sent + place, elements, MPI_INT64_T, traffic->peer, 0,
                             traffic->received + place, elements, MPI_INT64_T, traffic->peer, 0,
                             world_communicator, MPI_STATUS_IGNORE));
        place += (size_t)elements;
    }
}

/* ---- Around a burst, untimed ---- */

/* The number of a message among the messages of all bursts and ranks. */
static uint64_t number_of(const struct output *own, int sender, long long message)
{
    const uint64_t before = own->first * (uint64_t)own->traffic.messages;
    return (before + (uint64_t)message) * (uint64_t)own->launch->ranks + (uint64_t)sender;
}

void exchange_prepare(struct output *own)
{
    struct traffic *traffic = &own->traffic;
    for (long long i = 0; i < own->burst * traffic->messages; i++) {
        message_fill(traffic->sent + i * traffic->elements, traffic->elements,
                     number_of(own, own->launch->rank, i));
        message_clear(traffic->received + i * traffic->elements, traffic->elements);
    }
}

void exchange_check(struct output *own)
{
    struct traffic *traffic = &own->traffic;
    for (long long i = 0; i < own->burst * traffic->messages; i++) {
        const long long step = i / traffic->messages;
        message_check(&traffic->found, traffic->received + i * traffic->elements, traffic->elements,
                      number_of(own, traffic->peer, i), own->first + (uint64_t)step);
    }
}

bool exchange_is_supported(const struct output *own, long long message_bytes)
{
    const int ranks = own->launch->ranks;
    if (own->meanwhile->exchanges && ranks % 2 != 0) {
        record_status(own->record, CELL_UNSUPPORTED, "ranks exchange in pairs: found %d", ranks);
    } else if (own->meanwhile->exchanges && message_bytes % (long long)sizeof(int64_t) != 0) {
        record_status(own->record, CELL_UNSUPPORTED, "message_bytes is %lld, no multiple of 8",
                      message_bytes);
    }
    return own->record->status == CELL_OK;
}

void exchange_open(struct output *own, long long message_bytes)
{
    const int asked = (int)(message_bytes / (long long)sizeof(int64_t));
    struct traffic *traffic = &own->traffic;
    if (own->meanwhile->exchanges) {
        traffic->peer = own->launch->rank ^ 1;
        traffic->elements = asked < own->elements ? asked : own->elements;
        traffic->messages = own->elements / traffic->elements;
        const size_t every =
            (size_t)own->steps * (size_t)traffic->messages * (size_t)traffic->elements;
        traffic->sent = allocate_pages(every * sizeof traffic->sent[0]);
        traffic->received = allocate_pages(every * sizeof traffic->received[0]);
    }
}

void exchange_close(struct output *own)
{
    if (own->meanwhile->exchanges) {
        record_verification(own->record, own->traffic.found);
    }
    free(own->traffic.received);
    free(own->traffic.sent);
}
