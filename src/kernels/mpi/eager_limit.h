/* The eager limit of a library: the largest size whose send returns while no receive is posted.
 *
 * Kernels whose messages may have a size "at the limit" find the limit themselves, on their own
 * ranks and in their own launch: another library, setting or path has another limit. */
#ifndef ONESIDED_EAGER_LIMIT_H
#define ONESIDED_EAGER_LIMIT_H

#include "mpi/late.h"

/* Rows of a kernel's table of options. */
#define LIMIT_OPTIONS(most_)                                                                       \
    {.name = "largest-bytes",                                                                      \
     .argument = "BYTES",                                                                          \
     .help = "the largest size in the search for the eager limit",                                 \
     .kind = OPTION_INTEGER,                                                                       \
     .fallback = "65536",                                                                          \
     .minimum = 2,                                                                                 \
     .maximum = (most_)},                                                                          \
        {.name = "delay-ms",                                                                       \
         .argument = "MS",                                                                         \
         .help = "how late rank 0 receives in that search",                                        \
         .kind = OPTION_NUMBER,                                                                    \
         .fallback = "3",                                                                          \
         .minimum = 0.01,                                                                          \
         .maximum = 10000},                                                                        \
        {.name = "tries",                                                                          \
         .argument = "N",                                                                          \
         .help = "in that search a size that returns in none of them is above the limit",          \
         .kind = OPTION_INTEGER,                                                                   \
         .fallback = "3",                                                                          \
         .minimum = 1,                                                                             \
         .maximum = 100}

/* A call that is watched: MPI_Send. */
void send_standard(const struct late *late, long long size);

/* Take what the options say of the search, and memory for its messages; and free the memory. The
 * call and the receiver are the kernel's. */
void late_open(struct late *late, const struct launch *launch);
void late_close(struct late *late);

/* Both ranks: the sizes, from the powers of two to neighbours of a byte; returns the limit, 0 if no
 * size has returned. A size that has not returned in any try is above the limit. */
long long late_search(struct late *late);

/* The words of an axis `size_bytes`: of this library's limit, or the next size. A kernel may have
 * words for a part of a whole, too: the whole divided by the number of ranks so many times. */
struct limit_word {
    const char *name;
    int above_bytes;
    int divisions; /* 0: a word of the limit */
    long long whole_bytes;
};
#define LIMIT_WORD_ROWS {"at_limit", 0, 0, 0}, {"above_limit", 8, 0, 0}
extern const struct limit_word limit_words[2];
#define LIMIT_WORDS TABLE(limit_words)
#define LIMIT_HELP "; or at_limit, above_limit: the library's eager limit, 8 bytes more"

/* Collective, before the cell is timed: the cell's size_bytes, a number or one of the words. With
 * the first word of the limit in a launch the limit is searched for; the cell has its whole time
 * again, then. 0, and the record says so, if the search found no limit. A size is a multiple of 8:
 * the limit is rounded down. */
long long size_or_limit(const struct launch *launch, const struct cell *cell,
                        struct record *record);

/* Keep the size that a word stood for, in a series; nothing of a cell whose size is a number. */
void keep_size_of_word(const struct launch *launch, const struct cell *cell, struct record *record,
                       long long size);

#endif
