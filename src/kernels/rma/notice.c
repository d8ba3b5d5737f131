/* A notice: a word in a rank's window by which another rank says that its puts have arrived. */
#include "rma/notice.h"

#include "mpi/checked.h"

void notice_give(const struct notice *notice, uint64_t value)
{
    /* MPI does not order an accumulate after a put */
    CHECKED(MPI_Win_flush(notice->rank, notice->window));
    CHECKED(MPI_Accumulate(&value, 1, MPI_UINT64_T, notice->rank, notice->displacement, 1,
                           MPI_UINT64_T, MPI_REPLACE, notice->window));
    CHECKED(MPI_Win_flush(notice->rank, notice->window));
}

void notice_await(const struct notice *notice, uint64_t value)
{
    for (uint64_t found = 0; found < value;) {
        const uint64_t unused = 0;
        CHECKED(MPI_Fetch_and_op(&unused, &found, MPI_UINT64_T, notice->rank, notice->displacement,
                                 MPI_NO_OP, notice->window));
        CHECKED(MPI_Win_flush(notice->rank, notice->window));
    }
}
