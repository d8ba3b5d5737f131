/* The eager limit of a library: the largest size whose send returns while no receive is posted.
 *
 * Kernels whose messages may have a size "at the limit" search the limit themselves, on their own
 * ranks and in their own launch, because each library, setting and path has its own limit. */
#ifndef ONESIDED_EAGER_LIMIT_H
#define ONESIDED_EAGER_LIMIT_H

#include "mpi/late.h"

/* Rows of a kernel's table of options. */
#define LIMIT_OPTIONS(most_)                                                                       \
    INTEGER_OPTION("largest-bytes", "BYTES", "the largest size in the search for the eager limit", \
                   "65536", 2, (most_)),                                                           \
        NUMBER_OPTION("delay-ms", "MS", "how late rank 0 receives in that search", "3", 0.01,      \
                      10000),                                                                      \
        INTEGER_OPTION("tries", "N",                                                               \
                       "in that search a size that returns in none of them is above the limit",    \
                       "3", 1, 100)

/* The watched call MPI_Send. */
void send_standard(const struct late *late, long long size);

/* Read the options of the search and allocate memory for its messages; free the memory. The kernel
 * sets the call and the receiver. */
void late_open(struct late *late, const struct launch *launch);
void late_close(struct late *late);

/* Both ranks: try powers of two, then halve intervals down to a byte. Returns the limit; 0 if no
 * size has returned. A size that has not returned in any try is above the limit. */
long long late_search(struct late *late);

/* The words of an axis `size_bytes`: the library's limit, or the next size. Other words stand for a
 * part of a whole: the whole is divided by the number of ranks, `divisions` times. */
struct limit_word {
    const char *name;
    int above_bytes;
    int divisions; /* 0: the word is about the limit */
    long long whole_bytes;
};
#define LIMIT_WORD_ROWS {"at_limit", 0, 0, 0}, {"above_limit", 8, 0, 0}
extern const struct limit_word limit_words[2];
#define LIMIT_WORDS TABLE(limit_words)
#define LIMIT_HELP "; or at_limit, above_limit: the library's eager limit, 8 bytes more"

/* Collective, before the cell is timed: the cell's size_bytes, from a number or a word. The first
 * word of the limit in a launch starts the search; after it the cell has its whole time again. 0,
 * with the reason in the record, if the search found no limit. The limit is rounded down to a
 * multiple of 8. */
long long size_or_limit(const struct launch *launch, const struct cell *cell,
                        struct record *record);

/* Record the size that a word stood for, in a series; nothing if the cell's size is a number. */
void keep_size_of_word(const struct launch *launch, const struct cell *cell, struct record *record,
                       long long size);

#endif
