/* A message to rank 0, which sends it back. */
#include "wire/shared/message.h"

#include <mpi.h>

#include "harness/clock.h"
#include "mpi/checked.h"
#include "mpi/world.h"

#define TAG 0

double message_there_and_back(struct messages *messages)
{
    const MPI_Comm communicator = world_communicator;
    const int peer = messages->is_origin ? TARGET : messages->origin;
    const int64_t sent = value_of_sample((uint64_t)++messages->count, 0);
    int64_t received = ~sent;
    const double begin_s = clock_now_s();
    if (messages->is_origin) {
        CHECKED(MPI_Send(&sent, 1, MPI_INT64_T, peer, TAG, communicator));
    }
    CHECKED(MPI_Recv(&received, 1, MPI_INT64_T, peer, TAG, communicator, MPI_STATUS_IGNORE));
    if (!messages->is_origin) {
        CHECKED(MPI_Send(&received, 1, MPI_INT64_T, peer, TAG, communicator));
    }
    const double seconds = clock_now_s() - begin_s;
    verify_element(&messages->sent_back, received, sent, 0, (uint64_t)messages->count);
    return seconds;
}
