/* Thread levels by the names that options and lines give them: "single" to "multiple". */
#ifndef ONESIDED_THREAD_LEVEL_H
#define ONESIDED_THREAD_LEVEL_H

/* The name of MPI_THREAD_SINGLE to MPI_THREAD_MULTIPLE; NULL for any other number. */
const char *thread_level_name(int level);

/* The level of a name, which must be one of them. */
int thread_level_named(const char *name);

#endif
