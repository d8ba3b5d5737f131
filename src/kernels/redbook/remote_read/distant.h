/* Reads and writes of rank 1, of a file that rank 0 has: what is asked for, answered, and right.
 */
#ifndef ONESIDED_DISTANT_H
#define ONESIDED_DISTANT_H

#include "harness/storage.h"
#include "mpi/checked.h"
#include "mpi/server.h"
#include "mpi/world.h"
#include "rma/notice.h"

#define HOME 0   /* has the file, and answers */
#define CLIENT 1 /* reads or writes */
#define CODE_BYTES ((long long)sizeof(int64_t))

/* What an answer begins with: the bytes that follow, or why there are none. */
enum code { NO_SUCH_FILE = -1, NO_SUCH_OFFSET = -2, NO_SUCH_LENGTH = -3, NO_SUCH_SLOT = -4 };

/* A request's header. */
struct wanted {
    int64_t file, offset, bytes;
    int64_t slot;  /* of the client's window, where the answer is put */
    uint64_t turn; /* of the notice after it; 0: the answer is a message */
    int64_t writes;
};

struct distant {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct way *way;
    int reader;           /* the rank that reads or writes the file */
    bool writes;          /* it writes */
    bool is_thread;       /* the server is; else rank 0 itself */
    bool is_cold;         /* no page of the file is in memory when an operation begins */
    long long bytes;      /* of an operation */
    long long slot_bytes; /* of its answer */
    int slots;            /* operations of a burst, at most */
    long long places;     /* in the file, from which an operation may read */
    long long stride;     /* from one operation's to the next one's */
    long long next;       /* place of the next operation */
    long long *right;     /* by operation: its place */
    struct wanted *wanted;
    uint64_t content; /* of the file: its values are its own */
    struct stored stored;
    int descriptor; /* at that rank, else -1 */
    double resident;
    struct series *residents;
    struct server server;
    struct window window; /* where answers are put */
    struct notice notice;
    char *answers; /* at the client, a slot each; in the window, if there is one */
    char *reply;   /* at the server */
    uint64_t turn, sample;
    struct verification data, refused;
};

/* Collective: the file, and what the ranks need to ask and to answer; where this cannot be, the
 * record says why, the same on all ranks, and the result is false. `asks`: a server reads or
 * writes; `has_window`: the data are in a window. distant_close leaves in the record what was
 * verified. */
bool distant_open(struct distant *own, bool asks, bool has_window);
void distant_close(struct distant *own, bool asks, bool has_window);

/* Bring the page cache into the state that the cell asks for, and look at it. */
void distant_set_cache(struct distant *own);

/* The file gets its content, which is another one in each cell and launch. At rank 0. */
void distant_fill_file(const struct distant *own);

/* At the client, before a burst: what it will ask for, and nothing in its slots, or the data to
 * write; and after it: are the answers right? Faults that a test wants are put in by both. A reader
 * that another rank asks chooses with it; it has no slots. */
void distant_choose(struct distant *own, long long burst);
void distant_compare(struct distant *own, long long burst);

/* At the reader, after a burst of writes: is each in the file? And a sum over the whole file. */
void distant_compare_file(struct distant *own, long long burst);
int64_t distant_sum_of_file(const struct distant *own);

/* At the server, for a request. */
void distant_answer(struct server *server, const struct request *request);

/* At the client: ask for what there is not, and compare the answers, which `ask` waits for. */
void distant_ask_wrongly(struct distant *own, void (*ask)(struct distant *own, long long slot));

/* An answer at the client. */
static inline char *answer_in(const struct distant *own, long long slot)
{
    return own->answers + slot * own->slot_bytes;
}

#endif
