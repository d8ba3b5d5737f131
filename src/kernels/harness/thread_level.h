/* Thread levels, in the order of what they allow: those of MPI_Init_thread and shmem_init_thread.
 */
#ifndef ONESIDED_THREAD_LEVEL_H
#define ONESIDED_THREAD_LEVEL_H

enum thread_level { THREAD_SINGLE, THREAD_FUNNELED, THREAD_SERIALIZED, THREAD_MULTIPLE };

/* The names that options and lines give them; a name must be one of them. */
const char *thread_level_name(enum thread_level level);
enum thread_level thread_level_named(const char *name);

#endif
