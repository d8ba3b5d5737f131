/* Exchanges of messages over one description and several interfaces.
 *
 * Timed as in Lawrence Livermore National Laboratory, "MPI Performance Measurements"
 * (UCRL-WEB-218462, 2006), section "Algorithms": a number of passes is timed as a whole. Here the
 * passes are the operations of a burst (mpi/trial.h), and a sample is the time of one operation.
 *
 * A pass is a list of messages, which a kernel describes. Each rank has two regions of memory: one
 * for the messages that it sends, one for the messages that it receives. If there is a window, both
 * regions are in it. Each pass of a burst has its own slot in both regions, and each message has
 * its own values: after a burst every element is compared with the source's value. A kernel whose
 * messages lie in data of its own has one region, and fills and compares its slots itself (struct
 * contents).
 *
 * Several threads of a rank may send, receive, put, tell and hear at once if each thread has a
 * lane: messages and notices of different lanes never match, and their memory has no cache line in
 * common. All lanes share a communicator, in which each lane has a tag, or a window; or each lane
 * has its own. */
#ifndef ONESIDED_EXCHANGE_H
#define ONESIDED_EXCHANGE_H

#include "harness/launch.h"
#include "mpi/checked.h"
#include "mpi/eager_limit.h"
#include "mpi/team.h"
#include "mpi/world.h"
#include "rma/notice.h"
#include "rma/window.h"
#include "slots/room.h"

struct exchange;

/* The epochs of an exchange's window. SAME_SLOT: no window, and all passes, as many as the option
 * `burst` allows, use the first slot; a message that a later pass loses is not noticed. */
enum epochs { NO_WINDOW, SAME_SLOT, FENCE, PSCW, LOCK_ALL };

/* How an exchange is written: a row of the axis. */
struct interface {
    const char *name;
    enum epochs epochs;
    /* All ranks: THE TIMED LOOP. With fences an epoch is open before it, and none after it. */
    void (*go)(const struct exchange *exchange, int passes);
};

/* A message that this rank sends or receives. */
struct part {
    int peer;
    int elements;
    size_t own, at_peer; /* elements before it in the slot, here and at the peer */
    int lane;
    uint64_t number; /* among the messages of a pass */
};

struct parts {
    int count;
    struct part *part;
};

/* The path of a lane's messages; lanes that are not apart have the same. */
struct lane {
    MPI_Comm communicator;
    const struct window *window;
    int64_t *memory; /* its two regions */
    MPI_Aint begin;  /* bytes before the regions in each rank's window memory */
};

/* The ranks to which this rank sends, or from which it receives, each once. */
struct peers {
    int count;
    int *ranks;
    MPI_Group group;
};

/* Functions for slots that hold other data than the messages themselves. */
struct contents {
    void (*fill)(struct exchange *exchange, int pass);
    void (*compare)(struct exchange *exchange, int pass);
};

/* What an exchange is. */
struct kind {
    /* All ranks: add the messages of a pass, the same on all ranks; false, with the reason in the
     * record, if the cell cannot run. */
    bool (*describe)(struct exchange *exchange);
    bool swaps;        /* the two regions change their roles from pass to pass */
    bool first_counts; /* rank 0's time counts; else the slowest rank's time */
    int sequel;        /* messages in turn in a pass: a sample is the time of one message */
    const struct contents *contents; /* or NULL; if not, `describe` sets the elements of a slot */
    /* NULL, or records further values of a burst. */
    void (*keep)(struct exchange *exchange, long long burst);
};

struct exchange {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct kind *kind;
    const struct interface *interface;
    int rank, ranks;
    struct parts sends, receives;
    struct peers destinations, sources;
    MPI_Request *requests; /* one for each message that this rank receives in a pass */
    MPI_Status *statuses;  /* one for each; older headers and GCC disagree on MPI_STATUSES_IGNORE */
    size_t *sent_elements, *received_elements; /* by lane and rank, in a pass */
    uint64_t messages;                         /* of a pass, all ranks */
    size_t slot_elements;                      /* of a lane */
    long long size_bytes;                      /* of a message; set by exchange_elements */
    int slots, regions;
    int lanes;        /* TEAM_MAX at most */
    bool lanes_apart; /* each lane has its own communicator or window */
    struct lane lane[TEAM_MAX];
    void *memory;         /* of all lanes, if there is no window */
    struct window window; /* of all lanes; of the first lane if apart */
    struct window further_windows[TEAM_MAX - 1];
    uint64_t first; /* number of the burst's first pass, from 1 */
    int passes;     /* of the burst */
    double burst_s;
    struct series *time;
    struct verification found;
};

/* A row of a kernel's axes; the kernel declares its table `interfaces` before this row. */
#define INTERFACE_AXIS(fallback_)                                                                  \
    CHOICE_AXIS("interface", "how the messages are exchanged", (fallback_), interfaces)
#define FLAVOR_OF_WINDOW_AXIS(with_) FLAVOR_ONLY_WITH_AXIS("create,allocate", "interface=" with_)

#define MESSAGE_BYTES(help_, fallback_, most_)                                                     \
    .name = "size_bytes", .help = (help_), .kind = AXIS_INTEGER, .fallback = (fallback_),          \
    .minimum = 8, .maximum = (most_)
#define MESSAGE_BYTES_AXIS(of_, fallback_, most_)                                                  \
    {MESSAGE_BYTES("size of a " of_ ", a multiple of 8", fallback_, most_)}
/* The same, with words for sizes at the library's eager limit; needs LIMIT_OPTIONS. */
#define MESSAGE_BYTES_OR_LIMIT_AXIS(of_, fallback_, most_)                                         \
    {MESSAGE_BYTES("size of a " of_ ", a multiple of 8" LIMIT_HELP, fallback_, most_),             \
     .words = LIMIT_WORDS}

/* Rows of a kernel's options. */
#define EXCHANGE_OPTIONS SLOT_OPTIONS

/* The whole of a kernel's run_cell. */
void exchange_run(struct launch *launch, const struct cell *cell, struct record *record,
                  const struct kind *kind);

/* For `describe`, collective: the elements of the cell's size_bytes; 0, with the reason in the
 * record, if size_bytes is no multiple of 8, or if no limit was found. Then: add a message to a
 * pass. */
int exchange_elements(struct exchange *exchange);
void exchange_add(struct exchange *exchange, int source, int destination, int elements);
/* The same on a lane; `describe` first sets exchange->lanes, and whether the lanes are apart. */
void exchange_add_on(struct exchange *exchange, int lane, int source, int destination,
                     int elements);

/* A `describe`: each rank sends a block of the cell's size_bytes to every rank, also to itself,
 * with blocks in the order of ranks at both ends, as in MPI_Alltoall. */
bool exchange_describe_blocks(struct exchange *exchange);

/* ---- Inlined into the timed loops ---- */

#define INLINE static inline __attribute__((always_inline))
#define NOTICE_BYTES 64 /* a word for each rank and lane, in a cache line of its own */

/* Bytes of memory before the regions. */
INLINE size_t notice_bytes(const struct exchange *exchange)
{
    return (size_t)(exchange->ranks * exchange->lanes) * NOTICE_BYTES;
}

/* Elements before the slot of a pass in a lane's memory, in the region for sending or for
 * receiving. */
INLINE size_t slot_of(const struct exchange *exchange, bool receives, int pass)
{
    const uint64_t turn = exchange->kind->swaps ? exchange->first + (uint64_t)pass : 0;
    const size_t region = (turn + (receives ? 1 : 0)) % (size_t)exchange->regions;
    return (region * (size_t)exchange->slots + (size_t)pass) * exchange->slot_elements;
}

/* False if this rank has no messages, as with some numbers of ranks. */
INLINE bool takes_part(const struct exchange *exchange)
{
    return exchange->sends.count > 0;
}

/* Elements of a block, if there is one block for each rank. */
INLINE int block_elements(const struct exchange *exchange)
{
    return exchange->sends.part[0].elements;
}

/* With one lane: the slot of a pass. */
INLINE int64_t *outgoing(const struct exchange *exchange, int pass)
{
    return exchange->lane->memory + slot_of(exchange, false, pass);
}

INLINE int64_t *incoming(const struct exchange *exchange, int pass)
{
    return exchange->lane->memory + slot_of(exchange, true, pass);
}

/* The place from which a message is sent, and the place where it is received. */
INLINE int64_t *source_of(const struct exchange *exchange, const struct part *part, int pass)
{
    return exchange->lane[part->lane].memory + slot_of(exchange, false, pass) + part->own;
}

INLINE int64_t *destination_of(const struct exchange *exchange, const struct part *part, int pass)
{
    return exchange->lane[part->lane].memory + slot_of(exchange, true, pass) + part->own;
}

INLINE void send(const struct exchange *exchange, const struct part *part, int pass)
{
    CHECKED(MPI_Send(source_of(exchange, part, pass), part->elements, MPI_INT64_T, part->peer,
                     part->lane, exchange->lane[part->lane].communicator));
}

INLINE void send_later(const struct exchange *exchange, const struct part *part, int pass,
                       MPI_Request *request)
{
    CHECKED(MPI_Isend(source_of(exchange, part, pass), part->elements, MPI_INT64_T, part->peer,
                      part->lane, exchange->lane[part->lane].communicator, request));
}

INLINE void receive(const struct exchange *exchange, const struct part *part, int pass)
{
    CHECKED(MPI_Recv(destination_of(exchange, part, pass), part->elements, MPI_INT64_T, part->peer,
                     part->lane, exchange->lane[part->lane].communicator, MPI_STATUS_IGNORE));
}

INLINE void receive_later(const struct exchange *exchange, const struct part *part, int pass,
                          MPI_Request *request)
{
    CHECKED(MPI_Irecv(destination_of(exchange, part, pass), part->elements, MPI_INT64_T, part->peer,
                      part->lane, exchange->lane[part->lane].communicator, request));
}

/* The displacement of a place in a lane's memory at a rank. */
INLINE MPI_Aint displacement_on(const struct exchange *exchange, int lane, int rank,
                                size_t elements)
{
    const struct lane *of = &exchange->lane[lane];
    return of->window->begins[rank] + of->begin + (MPI_Aint)(elements * sizeof(int64_t));
}

INLINE MPI_Aint displacement(const struct exchange *exchange, int rank, size_t elements)
{
    return displacement_on(exchange, 0, rank, elements);
}

/* Begin to put a message to its place at the destination. */
INLINE void put(const struct exchange *exchange, const struct part *part, int pass)
{
    const size_t at_peer = slot_of(exchange, true, pass) + part->at_peer;
    CHECKED(MPI_Put(source_of(exchange, part, pass), part->elements, MPI_INT64_T, part->peer,
                    displacement_on(exchange, part->lane, part->peer, at_peer), part->elements,
                    MPI_INT64_T, exchange->lane[part->lane].window->handle));
}

/* Put blocks to all ranks (exchange_describe_blocks); no two ranks begin with the same rank. */
INLINE void put_blocks(const struct exchange *exchange, int pass)
{
    for (int step = 0; step < exchange->ranks; step++) {
        put(exchange, &exchange->sends.part[(exchange->rank + step) % exchange->ranks], pass);
    }
}

/* Begin to get a message from its place at the source. */
INLINE void get(const struct exchange *exchange, const struct part *part, int pass)
{
    const size_t at_peer = slot_of(exchange, false, pass) + part->at_peer;
    CHECKED(MPI_Get(destination_of(exchange, part, pass), part->elements, MPI_INT64_T, part->peer,
                    displacement_on(exchange, part->lane, part->peer, at_peer), part->elements,
                    MPI_INT64_T, exchange->lane[part->lane].window->handle));
}

/* The notice with which the rank `teller` tells the rank `rank` something, on a lane. */
INLINE struct notice notice_of(const struct exchange *exchange, int rank, int teller, int lane)
{
    const MPI_Aint word = (MPI_Aint)lane * exchange->ranks + teller;
    const struct window *window = exchange->lane[lane].window;
    return (struct notice){.window = window->handle,
                           .rank = rank,
                           .displacement = window->begins[rank] + word * NOTICE_BYTES};
}

/* Tell a rank that this rank's puts of a pass have arrived there, or that it may get the data. */
INLINE void tell_on(const struct exchange *exchange, int lane, int rank, int pass)
{
    const struct notice notice = notice_of(exchange, rank, exchange->rank, lane);
    CHECKED(MPI_Win_sync(notice.window));
    notice_give(&notice, exchange->first + (uint64_t)pass);
}

/* Wait for a rank's notice of a pass. */
INLINE void hear_on(const struct exchange *exchange, int lane, int rank, int pass)
{
    const struct notice notice = notice_of(exchange, exchange->rank, rank, lane);
    notice_await(&notice, exchange->first + (uint64_t)pass);
    CHECKED(MPI_Win_sync(notice.window));
}

INLINE void tell(const struct exchange *exchange, int rank, int pass)
{
    tell_on(exchange, 0, rank, pass);
}

INLINE void hear(const struct exchange *exchange, int rank, int pass)
{
    hear_on(exchange, 0, rank, pass);
}

/* The same for each destination of this rank's messages, and for each source. */
INLINE void tell_all(const struct exchange *exchange, int pass)
{
    for (int i = 0; i < exchange->destinations.count; i++) {
        tell(exchange, exchange->destinations.ranks[i], pass); /* flushes before and after */
    }
}

INLINE void hear_all(const struct exchange *exchange, int pass)
{
    for (int i = 0; i < exchange->sources.count; i++) {
        hear(exchange, exchange->sources.ranks[i], pass);
    }
}

/* Let the sources of this rank's messages access its window, or wait until all have done so. */
INLINE void expose(const struct exchange *exchange, const struct peers *origins)
{
    if (origins->count > 0) {
        CHECKED(MPI_Win_post(origins->group, 0, exchange->window.handle));
    }
}

INLINE void await_origins(const struct exchange *exchange, const struct peers *origins)
{
    if (origins->count > 0) {
        CHECKED(MPI_Win_wait(exchange->window.handle));
    }
}

/* After the last pass of a burst no further epoch is opened. */
INLINE void fence(const struct exchange *exchange, bool is_last)
{
    CHECKED(MPI_Win_fence(is_last ? MPI_MODE_NOSUCCEED : 0, exchange->window.handle));
}

#endif
