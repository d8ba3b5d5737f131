/* Messages to a rank that receives late. */
#include "redbook/eager_limit/late.h"

#include <sched.h>
#include <string.h>

#include "mpi/await.h"

#define NOTHING (-1) /* in all bytes that no message has reached */
#define NO_TAG 3     /* of no message: to look for one makes progress */
#define LOOKS 100    /* before the core is offered to another rank */

/* Words that hold so many bytes, and the value of one: no message has the bytes behind it. */
long long words_of(long long size)
{
    return (size + (long long)sizeof(int64_t) - 1) / (long long)sizeof(int64_t);
}

static int64_t expected(uint64_t number, long long size, long long word)
{
    const long long held = size - word * (long long)sizeof(int64_t);
    int64_t cut = NOTHING;
    const int64_t value = value_of_sample(number, (size_t)word);
    memcpy(&cut, &value, held < (long long)sizeof value ? (size_t)held : sizeof value);
    return cut;
}

bool send_one(struct late *late, long long size)
{
    for (long long word = 0; word < words_of(size); word++) {
        late->payload[word] = expected(late->number, size, word);
    }
    if (late->page != NULL) {
        await_word(&late->page->ready, late->number, world_communicator);
    } else {
        CHECKED(MPI_Recv(NULL, 0, MPI_BYTE, RECEIVER, 1, world_communicator, MPI_STATUS_IGNORE));
    }
    const double begin_s = clock_now_s();
    late->call->once(late, size);
    const bool is_quick = clock_now_s() - begin_s < late->delay_s / 2;
    if (late->page != NULL) {
        atomic_store(&late->page->returned, late->number);
    }
    if (late->call->needs_window) {
        CHECKED(MPI_Win_flush(RECEIVER, late->window.handle));
    }
    return is_quick;
}

static void begin_own(struct late *late)
{
    if (late->call->needs_window) {
        window_begin_own(&late->window, MPI_LOCK_SHARED);
    }
}

static void end_own(struct late *late)
{
    if (late->call->needs_window) {
        window_end_own(&late->window);
    }
}

bool receive_late(struct late *late, long long size)
{
    begin_own(late);
    memset(late->result, 0xff, (size_t)words_of(size) * sizeof(int64_t));
    end_own(late);
    if (late->page != NULL) {
        atomic_store(&late->page->ready, late->number);
    } else {
        CHECKED(MPI_Send(NULL, 0, MPI_BYTE, SENDER, 1, world_communicator));
    }
    const double end_s = clock_now_s() + late->delay_s;
    bool has_returned = false;
    for (long looks = 1; !has_returned && clock_now_s() < end_s; looks++) {
        if (late->receiver->is_in_mpi) {
            int arrived = 0;
            CHECKED(MPI_Iprobe(SENDER, NO_TAG, world_communicator, &arrived, MPI_STATUS_IGNORE));
        }
        has_returned = late->page != NULL && atomic_load(&late->page->returned) == late->number;
        if (looks % LOOKS == 0) {
            sched_yield();
        }
    }
    clock_now_s();
    if (!late->call->needs_window) {
        CHECKED(MPI_Recv(late->result, (int)size, MPI_BYTE, SENDER, 0, world_communicator,
                         MPI_STATUS_IGNORE));
    }
    return has_returned;
}

void compare(struct late *late, long long size)
{
    begin_own(late);
    for (long long word = 0; word < words_of(size); word++) {
        verify_element(&late->found, late->result[word], expected(late->number, size, word),
                       (size_t)word, late->number);
    }
    end_own(late);
}
