/* Reads and writes of rank 1, of a file that rank 0 has: requests, answers and verification. */
#ifndef ONESIDED_DISTANT_H
#define ONESIDED_DISTANT_H

#include "harness/storage.h"
#include "mpi/checked.h"
#include "mpi/server.h"
#include "mpi/world.h"
#include "rma/notice.h"

#define HOME 0   /* has the file, and answers requests */
#define CLIENT 1 /* reads or writes */
#define CODE_BYTES ((long long)sizeof(int64_t))

/* The beginning of an answer: the number of bytes that follow, or why none follow. */
enum code { NO_SUCH_FILE = -1, NO_SUCH_OFFSET = -2, NO_SUCH_LENGTH = -3, NO_SUCH_SLOT = -4 };

/* A request's header. */
struct wanted {
    int64_t file, offset, bytes;
    int64_t slot;  /* of the client's window, for the answer */
    uint64_t turn; /* of the notice after the answer; 0: the answer is a message */
    int64_t writes;
};

struct distant {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct way *way;
    int reader;           /* the rank that reads or writes the file */
    bool writes;          /* the operations are writes */
    bool is_thread;       /* the server is a thread; else rank 0 itself */
    bool is_cold;         /* no page of the file is in memory when an operation begins */
    long long bytes;      /* of an operation */
    long long slot_bytes; /* of an answer */
    int slots;            /* operations of a burst, at most */
    long long places;     /* in the file, for operations */
    long long stride;     /* from an operation's place to the next one's */
    long long next;       /* place of the next operation */
    long long *right;     /* by operation: its place */
    struct wanted *wanted;
    uint64_t content; /* of the file: determines its values */
    struct stored stored;
    int descriptor; /* of the file at the reader, else -1 */
    double resident;
    struct series *residents;
    struct server server;
    struct window window; /* for answers */
    struct notice notice;
    char *answers; /* at the client: a slot for each; in the window, if there is one */
    char *reply;   /* at the server */
    uint64_t turn, sample;
    struct verification data, refused;
};

/* Collective: make the file, the server and the window; false, with the reason in the record, the
 * same on all ranks, if this is impossible. `asks`: a server reads or writes; `has_window`: the
 * data are in a window. distant_close leaves the verifications in the record. */
bool distant_open(struct distant *own, bool asks, bool has_window);
void distant_close(struct distant *own, bool asks, bool has_window);

/* Bring the page cache into the cell's state, and measure the share of resident pages. */
void distant_set_cache(struct distant *own);

/* At rank 0: write the file's content, which differs in each cell and launch. */
void distant_fill_file(const struct distant *own);

/* At the client, before a burst: choose the requests; clear the slots, or put the data to write
 * into them. After a burst: verify the answers. Both functions make the faults of tests. A reader
 * that another rank asks makes the same choice; it has no slots. */
void distant_choose(struct distant *own, long long burst);
void distant_compare(struct distant *own, long long burst);

/* At the reader, after a burst of writes: verify each write in the file; sum the whole file. */
void distant_compare_file(struct distant *own, long long burst);
int64_t distant_sum_of_file(const struct distant *own);

/* At the server: answer a request. */
void distant_answer(struct server *server, const struct request *request);

/* At the client: send invalid requests, and compare the answers, for which `ask` waits. */
void distant_ask_wrongly(struct distant *own, void (*ask)(struct distant *own, long long slot));

/* An answer at the client. */
static inline char *answer_in(const struct distant *own, long long slot)
{
    return own->answers + slot * own->slot_bytes;
}

#endif
