/* What the target of writes does that an origin waits for: it echoes notices, or receives. */
#ifndef ONESIDED_COMPLETION_TARGET_H
#define ONESIDED_COMPLETION_TARGET_H

#include "mpi/world.h"
#include "rma/notice.h"
#include "slots/accesses.h"
#include "slots/bursts.h"

#define NOTICE_BYTES 64 /* a word for each origin, with a cache line of its own */

struct completion;

/* What an origin waits for: a row of the axis. */
struct known {
    const char *name;
    /* THE TIMED LOOP of an origin. */
    void (*go)(const struct completion *own, long long burst);
    /* NULL, or what rank 0 does meanwhile: its part of the timed loop. */
    void (*accompany)(const struct completion *own, long long burst);
    /* NULL, or at an origin, untimed: what the loop has left open. */
    void (*finish)(const struct completion *own, long long burst);
};

struct completion {
    struct slots slots; /* first */
    const struct known *known;
    uint64_t turn; /* notices of an origin before this burst */
};

/* The word at a rank by which an origin and rank 0 tell each other: that of the origin is its own.
 */
struct notice notice_of(const struct completion *own, int at, int origin);

/* Collective: no rank has given a notice yet. */
void clear_notices(struct completion *own);

/* At rank 0, for each origin in each turn. A message goes where a put would. */
void echo_notices(const struct completion *own, long long burst);
void receive_all(const struct completion *own, long long burst);
void receive_and_reply(const struct completion *own, long long burst);

#endif
