/* How many messages of the eager limit's size are sent before a send waits for a receive. */
#ifndef ONESIDED_UNANSWERED_H
#define ONESIDED_UNANSWERED_H

#include "harness/record.h"
#include "mpi/late.h"

/* Rows of a kernel's table of options. */
#define UNANSWERED_OPTIONS                                                                         \
    INTEGER_OPTION(                                                                                \
        "unanswered-bytes", "BYTES",                                                               \
        "bytes of all messages that are sent with no receive posted, at most; the rank's "         \
        "share of its machine's memory allows an eighth of itself",                                \
        "1048576", 1, 1LL << 32),                                                                  \
        NUMBER_OPTION("patience-ms", "MS",                                                         \
                      "after so long a send that has not returned waits for its receive", "50",    \
                      0.01, 10000)

/* At the sender: send messages of the limit's size, at most UNANSWERED_BYTES_MOST, one after
 * another, until the receiver ends this in shared memory, or as many as are allowed. Nothing is
 * sent without a limit, or if the ranks share no memory outside MPI. */
#define UNANSWERED_BYTES_MOST 65536
void unanswered_send(struct late *late, long long limit);

/* At the receiver, meanwhile: count the sends that return, until a send does not return within the
 * patience, or all allowed messages are sent, or 5 s are over. Then receive and verify every
 * message. Recorded: how many sends returned, their bytes, and whether a send waited. */
void unanswered_receive(struct late *late, struct record *record, long long limit);

#endif
