/* How a mutex is locked and unlocked: with MPI-2, with atomic operations of MPI-3, and with atomic
 * operations of C. */
#include "dinan/mutex/mutex.h"
#include "mpi/back_off.h"
#include "mpi/checked.h"
#include "mpi/world.h"
#include "rma/word.h"

#define HAND_OVER_TAG 1
#define LONGEST_BACK_OFF 64 /* calls of MPI between two tries */

/* ---- byte_vector: a byte of each rank at the host says who has the mutex or waits for it. ---- */

static void get_others(struct mutex *mutex, int first, int count)
{
    if (count > 0) {
        CHECKED(MPI_Get(mutex->others + first, count, MPI_BYTE, HOST,
                        mutex->window.begins[HOST] + BYTES + first, count, MPI_BYTE,
                        mutex->window.handle));
    }
}

/* Set the own byte and get all other bytes, each once, because MPI-2 has no order in an epoch. */
static void exchange_bytes(struct mutex *mutex, unsigned char own)
{
    const MPI_Win window = mutex->window.handle;
    CHECKED(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, HOST, 0, window));
    CHECKED(MPI_Put(&own, 1, MPI_BYTE, HOST, mutex->window.begins[HOST] + BYTES + mutex->rank, 1,
                    MPI_BYTE, window));
    get_others(mutex, 0, mutex->rank);
    get_others(mutex, mutex->rank + 1, mutex->ranks - mutex->rank - 1);
    CHECKED(MPI_Win_unlock(HOST, window));
}

/* The next rank whose byte is set, counted from this rank; NOBODY if no byte is set. */
static int next_waiting(const struct mutex *mutex)
{
    for (int i = 1; i < mutex->ranks; i++) {
        const int rank = (mutex->rank + i) % mutex->ranks;
        if (mutex->others[rank] != 0) {
            return rank;
        }
    }
    return NOBODY;
}

static void await_message(void)
{
    CHECKED(MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, HAND_OVER_TAG, world_communicator,
                     MPI_STATUS_IGNORE));
}

static void send_message(int rank)
{
    CHECKED(MPI_Send(NULL, 0, MPI_BYTE, rank, HAND_OVER_TAG, world_communicator));
}

static void lock_byte_vector(struct mutex *mutex)
{
    exchange_bytes(mutex, 1);
    if (next_waiting(mutex) != NOBODY) {
        await_message();
    }
}

static void unlock_byte_vector(struct mutex *mutex)
{
    exchange_bytes(mutex, 0);
    const int next = next_waiting(mutex);
    if (next != NOBODY) {
        send_message(next);
    }
}

/* ---- mcs: a queue of ranks. The host has its tail, each rank knows who is next. ---- */

static struct word word_at(const struct mutex *mutex, int rank, MPI_Aint place)
{
    return (struct word){mutex->window.handle, rank, mutex->window.begins[rank] + place};
}

/* Count a swap that fetched another word than the algorithm leaves there. */
static void expect(struct mutex *mutex, int64_t fetched, int64_t expected)
{
    mutex->surprises += fetched != expected;
}

/* Join the queue; return whether others are before this rank. */
static bool enqueue(struct mutex *mutex, word_fetching *swap)
{
    const int64_t before = swap(word_at(mutex, HOST, TAIL), MPI_REPLACE, mutex->rank);
    if (before != NOBODY) {
        expect(mutex, swap(word_at(mutex, (int)before, NEXT), MPI_REPLACE, mutex->rank), NOBODY);
    }
    return before != NOBODY;
}

typedef int64_t swapping(struct word word, int64_t expected, int64_t desired);

/* Leave the queue; return who is next, or NOBODY. */
static int dequeue_by(struct mutex *mutex, swapping *swap, word_fetching *fetch)
{
    const struct word tail = word_at(mutex, HOST, TAIL), own = word_at(mutex, mutex->rank, NEXT);
    if (swap(tail, mutex->rank, NOBODY) == mutex->rank) {
        return NOBODY;
    }
    const int64_t next = word_await_change_by(fetch, own, NOBODY);
    expect(mutex, fetch(own, MPI_REPLACE, NOBODY), next);
    return (int)next;
}

static int dequeue(struct mutex *mutex)
{
    return dequeue_by(mutex, word_compare_and_swap, word_fetch);
}

static void lock_mcs(struct mutex *mutex)
{
    if (enqueue(mutex, word_fetch)) {
        await_message();
    }
}

static void lock_mcs_request(struct mutex *mutex)
{
    if (enqueue(mutex, word_fetch_by_request)) {
        await_message();
    }
}

static void unlock_mcs(struct mutex *mutex)
{
    const int next = dequeue(mutex);
    if (next != NOBODY) {
        send_message(next);
    }
}

/* As mcs, with each access in a shared lock of its own, as in the source. */
static void lock_mcs_shared_locks(struct mutex *mutex)
{
    if (enqueue(mutex, word_fetch_in_lock)) {
        await_message();
    }
}

static void unlock_mcs_shared_locks(struct mutex *mutex)
{
    const int next = dequeue_by(mutex, word_compare_and_swap_in_lock, word_fetch_in_lock);
    if (next != NOBODY) {
        send_message(next);
    }
}

/* As mcs, but a word that the next rank reads replaces the message. */
static void lock_mcs_spin(struct mutex *mutex)
{
    if (enqueue(mutex, word_fetch)) {
        const struct word granted = word_at(mutex, mutex->rank, GRANTED);
        word_await_change(granted, 0);
        expect(mutex, word_fetch(granted, MPI_REPLACE, 0), 1);
    }
}

static void unlock_mcs_spin(struct mutex *mutex)
{
    const int next = dequeue(mutex);
    if (next != NOBODY) {
        expect(mutex, word_fetch(word_at(mutex, next, GRANTED), MPI_REPLACE, 1), 0);
    }
}

/* ---- compare_and_swap, c_atomics: a rank that swaps its number in has the mutex. ---- */

static void lock_compare_and_swap(struct mutex *mutex)
{
    const struct word tail = word_at(mutex, HOST, TAIL);
    for (int calls = 1; word_compare_and_swap(tail, NOBODY, mutex->rank) != NOBODY;) {
        back_off(&calls, LONGEST_BACK_OFF);
    }
}

static void unlock_compare_and_swap(struct mutex *mutex)
{
    expect(mutex, word_fetch(word_at(mutex, HOST, TAIL), MPI_REPLACE, NOBODY), mutex->rank);
}

static void lock_c_atomics(struct mutex *mutex)
{
    int64_t free_word = NOBODY;
    for (int calls = 1;
         !atomic_compare_exchange_strong(mutex->host_tail, &free_word, mutex->rank);) {
        free_word = NOBODY;
        back_off(&calls, LONGEST_BACK_OFF);
    }
}

static void unlock_c_atomics(struct mutex *mutex)
{
    atomic_store(mutex->host_tail, NOBODY);
}

const struct algorithm algorithms[] = {
    {.name = "byte_vector", .lock = lock_byte_vector, .unlock = unlock_byte_vector},
    {.name = "mcs", .lock = lock_mcs, .unlock = unlock_mcs, .in_lock_all = true},
    {.name = "mcs_shared_locks", .lock = lock_mcs_shared_locks, .unlock = unlock_mcs_shared_locks},
    {.name = "mcs_request", .lock = lock_mcs_request, .unlock = unlock_mcs, .in_lock_all = true},
    {.name = "mcs_spin", .lock = lock_mcs_spin, .unlock = unlock_mcs_spin, .in_lock_all = true},
    {.name = "compare_and_swap",
     .lock = lock_compare_and_swap,
     .unlock = unlock_compare_and_swap,
     .in_lock_all = true},
    {.name = "c_atomics",
     .lock = lock_c_atomics,
     .unlock = unlock_c_atomics,
     .in_lock_all = true,
     .is_shared = true},
};
