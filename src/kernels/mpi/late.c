/* Messages to a rank that receives late. */
#include "mpi/late.h"

#include <math.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "mpi/await.h"
#include "mpi/checked.h"
#include "mpi/world.h"

#define NOTHING (-1) /* in all bytes that no message has written */
#define MEETING_TAG 3
#define NO_TAG 4   /* no message has it: a probe for it makes progress */
#define LOOKS 100  /* before the core is offered to another rank */
#define PARTS 5    /* of the delay; a look after each: both ranks take turns on one core */
#define MOST_S 2.0 /* of a delay, if the sender sleeps in its call or gets no core */

/* The words for so many bytes, and the value of a word. Bytes behind a message have values of no
 * message. */
static long long words_of(long long size)
{
    return (size + (long long)sizeof(int64_t) - 1) / (long long)sizeof(int64_t);
}

size_t late_bytes(long long largest_bytes)
{
    return (size_t)words_of(largest_bytes) * sizeof(int64_t);
}

static int64_t expected(uint64_t number, long long size, long long word)
{
    const long long held = size - word * (long long)sizeof(int64_t);
    int64_t cut = NOTHING;
    const int64_t value = value_of_sample(number, (size_t)word);
    memcpy(&cut, &value, held < (long long)sizeof value ? (size_t)held : sizeof value);
    return cut;
}

void late_fill(struct late *late, long long size)
{
    for (long long word = 0; word < words_of(size); word++) {
        late->payload[word] = expected(late->number, size, word);
    }
}

bool late_send(struct late *late, long long size)
{
    late_fill(late, size);
    if (late->page != NULL) {
        await_word(&late->page->ready, late->number, world_communicator);
    } else {
        CHECKED(MPI_Recv(NULL, 0, MPI_BYTE, RECEIVER, 1, world_communicator, MPI_STATUS_IGNORE));
    }
    const double begin_s = clock_now_s();
    if (late->page != NULL) {
        atomic_store(&late->page->begun, late->number);
    }
    late->call->once(late, size);
    const bool is_quick = clock_now_s() - begin_s < late->delay_s / 2;
    if (late->page != NULL) {
        atomic_store(&late->page->returned, late->number);
    }
    if (late->window != NULL) {
        late->window->complete(late->window->window);
    }
    return is_quick;
}

/* ---- How long the sender has computed ---- */

/* Seconds that a process of this host has computed; NAN if no process has this number. */
static double computed_s(pid_t process)
{
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) {
        return NAN;
    }
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Both ranks: exchange a number; returns the other rank's number. */
static double tell(const struct late *late, double own)
{
    const int peer = late->launch->rank == SENDER ? RECEIVER : SENDER;
    double heard = 0;
    CHECKED(MPI_Sendrecv(&own, 1, MPI_DOUBLE, peer, MEETING_TAG, &heard, 1, MPI_DOUBLE, peer,
                         MEETING_TAG, world_communicator, MPI_STATUS_IGNORE));
    return heard;
}

/* In another PID namespace the sender's number may belong to no process or to another. So the
 * sender tells its own time before and after the receiver looks, and the time that the receiver
 * sees must lie between these two. */
void late_meet(struct late *late)
{
    const double process = tell(late, getpid());
    const double before_s = tell(late, computed_s(getpid()));
    const double seen_s = computed_s((pid_t)process);
    tell(late, 0);
    const double after_s = tell(late, computed_s(getpid()));
    const bool sees = late->page != NULL && seen_s >= before_s && seen_s <= after_s;
    late->sender = sees ? (pid_t)process : 0;
}

/* The rest of a message's delay. */
struct patience {
    double end_s, left_s;
    double seen_s; /* the sender's computed time at the last look; NAN: no look yet */
};

static struct patience begin_patience(const struct late *late)
{
    const double most_s = late->sender != 0 ? fmax(MOST_S, late->delay_s) : late->delay_s;
    return (struct patience){
        .end_s = clock_now_s() + most_s, .left_s = late->delay_s, .seen_s = NAN};
}

/* Between two looks at most a part (1/PARTS) of the delay counts, because ranks that share a core
 * take turns. */
static bool is_patient(const struct late *late, struct patience *patience)
{
    if (late->sender != 0 && atomic_load(&late->page->begun) >= late->number) {
        const double now_s = computed_s(late->sender);
        patience->left_s -= fmax(0, fmin(now_s - patience->seen_s, late->delay_s / PARTS));
        patience->seen_s = now_s;
    }
    return patience->left_s > 0 && clock_now_s() < patience->end_s;
}

static bool has_returned(const struct late *late)
{
    return late->page != NULL && atomic_load(&late->page->returned) >= late->number;
}

bool late_wait(struct late *late)
{
    struct patience patience = begin_patience(late);
    for (long looks = 1; !has_returned(late); looks++) {
        if (late->is_in_mpi) {
            int arrived = 0;
            CHECKED(MPI_Iprobe(SENDER, NO_TAG, world_communicator, &arrived, MPI_STATUS_IGNORE));
        }
        if (looks % LOOKS == 0) {
            sched_yield();
            if (!is_patient(late, &patience)) {
                break;
            }
        }
    }
    return has_returned(late);
}

static void begin_own(struct late *late)
{
    if (late->window != NULL) {
        late->window->begin_own(late->window->window);
    }
}

static void end_own(struct late *late)
{
    if (late->window != NULL) {
        late->window->end_own(late->window->window);
    }
}

bool late_receive(struct late *late, long long size)
{
    begin_own(late);
    memset(late->result, 0xff, late_bytes(size));
    end_own(late);
    if (late->page != NULL) {
        atomic_store(&late->page->ready, late->number);
    } else {
        CHECKED(MPI_Send(NULL, 0, MPI_BYTE, SENDER, 1, world_communicator));
    }
    const bool is_early = late_wait(late);
    if (late->window == NULL) {
        CHECKED(MPI_Recv(late->result, (int)size, MPI_BYTE, SENDER, 0, world_communicator,
                         MPI_STATUS_IGNORE));
    }
    return is_early;
}

void late_compare(struct late *late, long long size)
{
    begin_own(late);
    for (long long word = 0; word < words_of(size); word++) {
        verify_element(&late->found, late->result[word], expected(late->number, size, word),
                       (size_t)word, late->number);
    }
    end_own(late);
}
