/* Wait outside MPI for a word that another rank writes, and leave no rank alone inside MPI.
 *
 * A rank that looks at a word makes no MPI call, and so no progress. Another rank may need that
 * progress to come out of its own call, and it writes the word only after that call: MPI_Win_post
 * synchronises with the origins in some libraries. Then both wait for ever, and the program is at
 * fault, not the library. */
#ifndef ONESIDED_AWAIT_H
#define ONESIDED_AWAIT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>

/* Wait until the word holds the value; main thread only. After a patience of 10 ms the calling
 * rank calls MPI_Iprobe between its looks. Returns the stamp before the first of these calls, NAN
 * where there was none. */
double await_word(const _Atomic uint64_t *word, uint64_t value, MPI_Comm communicator);

#endif
