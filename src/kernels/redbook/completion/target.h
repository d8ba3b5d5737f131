/* What the target does for a waiting origin: it echoes notices, or receives messages. */
#ifndef ONESIDED_COMPLETION_TARGET_H
#define ONESIDED_COMPLETION_TARGET_H

#include "mpi/world.h"
#include "rma/notice.h"
#include "slots/accesses.h"
#include "slots/bursts.h"

#define NOTICE_BYTES 64 /* a word for each origin, in a cache line of its own */

struct completion;

/* What an origin waits for: a row of the axis. */
struct known {
    const char *name;
    /* THE TIMED LOOP of an origin. */
    void (*go)(const struct completion *own, long long burst);
    /* NULL, or rank 0's part of the timed loop. */
    void (*accompany)(const struct completion *own, long long burst);
    /* NULL, or at an origin, untimed: complete the puts that the loop has left open. */
    void (*finish)(const struct completion *own, long long burst);
};

struct completion {
    struct slots slots; /* first */
    const struct known *known;
    uint64_t turn; /* number of an origin's notices before this burst */
};

/* The word at rank `at` for notices between an origin and rank 0. */
struct notice notice_of(const struct completion *own, int at, int origin);

/* Collective: set all words to "no notice". */
void clear_notices(struct completion *own);

/* At rank 0, in each turn for each origin. A message goes to the place of the put. */
void echo_notices(const struct completion *own, long long burst);
void receive_all(const struct completion *own, long long burst);
void receive_and_reply(const struct completion *own, long long burst);

#endif
