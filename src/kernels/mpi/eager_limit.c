/* The eager limit of a library: the largest size whose send returns while no receive is posted. */
#include "mpi/eager_limit.h"

#include <stdlib.h>

#include "harness/memory.h"
#include "mpi/checked.h"
#include "mpi/shared_page.h"
#include "mpi/world.h"

#define ELEMENT_BYTES 8 /* of all messages whose size may be at the limit */
#define ANSWER_TAG 2
#define SEARCH_S 120.0 /* a search may take; a cell that is to hang has only a second */

void send_standard(const struct late *late, long long size)
{
    CHECKED(MPI_Send(late->payload, (int)size, MPI_BYTE, RECEIVER, 0, world_communicator));
}

const struct limit_word limit_words[2] = {LIMIT_WORD_ROWS};

void late_open(struct late *late, const struct launch *launch)
{
    const struct options *asked = &launch->options;
    late->launch = launch;
    late->largest_bytes = options_integer(asked, "largest-bytes");
    late->delay_s = 1e-3 * options_number(asked, "delay-ms");
    late->tries = options_integer(asked, "tries");
    late->payload = allocate_pages(late_bytes(late->largest_bytes));
    late->result = allocate_pages(late_bytes(late->largest_bytes));
    late->page = shared_page_open(world_communicator, sizeof *late->page);
}

void late_close(struct late *late)
{
    shared_page_close(late->page, sizeof *late->page);
    free(late->payload);
    free(late->result);
}

/* Both ranks learn whether the call has returned early. The receiver knows this, or the sender if
 * the ranks share no memory. */
static bool agree(const struct late *late, bool own)
{
    const bool is_sender = late->launch->rank == SENDER;
    const int peer = is_sender ? RECEIVER : SENDER, told = own;
    int heard = 0;
    CHECKED(MPI_Sendrecv(&told, 1, MPI_INT, peer, ANSWER_TAG, &heard, 1, MPI_INT, peer, ANSWER_TAG,
                         world_communicator, MPI_STATUS_IGNORE));
    return is_sender == (late->page == NULL) ? own : heard;
}

/* Both ranks: tell whether a message of this size returned with no receive posted, in any try. */
static bool returns(struct late *late, long long size)
{
    bool returned = false;
    for (long long i = 0; !returned && i < late->tries; i++) {
        late->number++;
        if (late->launch->rank == SENDER) {
            returned = agree(late, late_send(late, size));
        } else {
            returned = agree(late, late_receive(late, size));
            late_compare(late, size);
        }
    }
    if (late->sizes != NULL) {
        series_add(late->sizes, (double)size);
        series_add(late->returned, returned);
    }
    return returned;
}

long long late_search(struct late *late)
{
    long long limit = 0;
    late_meet(late);
    bool below = returns(late, 1);
    for (long long size = 2; size <= late->largest_bytes; size *= 2) {
        const bool above = returns(late, size);
        long long low = size / 2, high = size;
        while (below != above && high - low > 1) {
            const long long middle = low + (high - low) / 2;
            *(returns(late, middle) == below ? &low : &high) = middle;
        }
        limit = below ? low : limit;
        limit = above ? size : limit;
        below = above;
    }
    return limit;
}

/* The largest size that a search tries: a power of two. */
static long long largest_tried(const struct launch *launch)
{
    long long size = 1;
    while (2 * size <= options_integer(&launch->options, "largest-bytes")) {
        size *= 2;
    }
    return size;
}

/* Collective, once in a launch: search the limit of MPI_Send to a receiver that is in MPI. */
static long long search_in_launch(const struct launch *launch, struct record *record)
{
    const struct call call = {"send", false, send_standard};
    struct late late = {.call = &call, .is_in_mpi = true, .found = {.name = "late message"}};
    long long limit = 0;
    late_open(&late, launch);
    CHECKED(MPI_Barrier(world_communicator));
    if (launch->rank == RECEIVER || launch->rank == SENDER) {
        limit = late_search(&late);
    }
    if (launch->rank == RECEIVER) {
        record_verification(record, late.found);
    }
    CHECKED(MPI_Bcast(&limit, 1, MPI_LONG_LONG, RECEIVER, world_communicator));
    late_close(&late);
    return limit;
}

static long long limit_of_launch(const struct launch *launch, const struct cell *cell,
                                 struct record *record)
{
    static bool is_known = false;
    static long long limit = 0;
    if (!is_known) {
        const char *phase = watchdog_phase;
        watchdog_phase = "eager limit";
        watchdog_give(SEARCH_S);
        limit = search_in_launch(launch, record);
        is_known = true;
        watchdog_cell(cell->id);
        watchdog_phase = phase;
    }
    return limit;
}

/* The whole divided by the number of ranks, rounded down to whole elements. */
static long long part_of_whole(const struct launch *launch, const struct limit_word *word,
                               struct record *record)
{
    long long bytes = word->whole_bytes;
    for (int i = 0; i < word->divisions; i++) {
        bytes /= launch->ranks;
    }
    if (bytes < ELEMENT_BYTES) {
        record_status(record, CELL_UNSUPPORTED, "%lld bytes have no 8 bytes for each of %d ranks",
                      word->whole_bytes, launch->ranks);
        return 0;
    }
    return bytes - bytes % ELEMENT_BYTES;
}

long long size_or_limit(const struct launch *launch, const struct cell *cell, struct record *record)
{
    const struct limit_word *word = cell_choice(cell, "size_bytes");
    if (word == NULL) {
        return (long long)cell_number(cell, "size_bytes");
    }
    if (word->divisions > 0) {
        return part_of_whole(launch, word, record);
    }
    const long long limit = limit_of_launch(launch, cell, record);
    if (limit >= largest_tried(launch)) {
        record_status(record, CELL_UNSUPPORTED,
                      "no eager limit up to %lld bytes: sends of all sizes return with no receive "
                      "posted",
                      limit);
        return 0;
    }
    if (limit < ELEMENT_BYTES) {
        record_status(record, CELL_UNSUPPORTED,
                      "no eager limit: no send of %d bytes or more returns with no receive posted",
                      ELEMENT_BYTES);
        return 0;
    }
    return limit - limit % ELEMENT_BYTES + word->above_bytes;
}

void keep_size_of_word(const struct launch *launch, const struct cell *cell, struct record *record,
                       long long size)
{
    if (launch->rank == 0 && cell_choice(cell, "size_bytes") != NULL) {
        series_add(record_series(record, "used_bytes", "count", 1), (double)size);
    }
}
