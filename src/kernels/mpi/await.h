/* Wait outside MPI for a word that another rank writes, and leave no rank alone inside MPI.
 *
 * A rank that looks at a word makes no MPI call, and so no progress. Another rank may need this
 * progress to return from its own call, and may write the word only after this call. For example,
 * MPI_Win_post synchronises with the origins in some libraries. Then both ranks wait for ever, and
 * the fault is the program's, not the library's. */
#ifndef ONESIDED_AWAIT_H
#define ONESIDED_AWAIT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>

/* Wait until the word holds the value; main thread only. After a patience of 10 ms the calling rank
 * calls MPI_Iprobe between its looks. Returns the stamp before the first of these calls; NAN if
 * there was no call. */
double await_word(const _Atomic uint64_t *word, uint64_t value, MPI_Comm communicator);

#endif
