/* A watchdog that is no thread: signal handlers say where a rank stood when it hung or died.
 *
 * A thread would need MPI_THREAD_MULTIPLE, and would change what is measured. The handler of a
 * POSIX timer writes FILE.hang-<rank>: one JSON line with the cell, the phase, the MPI call in
 * flight and the number of collective calls that were begun. It uses async-signal-safe functions
 * alone, waits until the other ranks have reported, too, and ends the process with exit code 5. A
 * process that dies of its own signal, or exits before MPI_Finalize has returned, writes the same
 * line and the signal (null: it exited) to FILE.crash-<rank>; then it dies as without a
 * watchdog. */
#ifndef ONESIDED_WATCHDOG_H
#define ONESIDED_WATCHDOG_H

#include <string.h>

#define EXIT_HANG 5

/* Before MPI_Init_thread: report deaths from here on, with the rank that the launcher told.
 * `output` may be NULL: the lines then go to standard error. `end` ends all ranks. */
void watchdog_open(const char *program, const char *output, int rank, void (*end)(int code));

/* After MPI_Init_thread: prepare the timer, and replace the handlers that MPI has installed. */
void watchdog_arm(int rank, int ranks, double timeout_s);

/* Begin a cell (NULL: none, as in start-up and finalisation) and give it the whole time again. */
void watchdog_cell(const char *cell_id);

/* From now on the watchdog waits for timeout_s, in place of a cell's time. */
void watchdog_give(double timeout_s);

/* After MPI_Finalize: neither hang nor exit is reported any more. */
void watchdog_close(void);

/* The phase and the call that a report names. The texts must stay in memory. The phase is the main
 * thread's. Each thread has its own call; a hang is reported with the main thread's call. */
extern const char *volatile watchdog_phase;
extern _Thread_local const char *volatile watchdog_call;

/* How many collective calls this rank has begun. All ranks make the same ones in the same order, so
 * among ranks that hang, the rank with the fewest is behind, and the others may wait for it. */
extern volatile long watchdog_collectives;

/* Does the text of a call name a collective call? The compiler knows this in BEGIN_CALL, so the
 * calls of a timed section do not take longer. */
#define BEGINS_WITH(text, name) (strncmp(text, name, sizeof(name) - 1) == 0)
#define IS_COLLECTIVE(text)                                                                        \
    (BEGINS_WITH(text, "MPI_Barrier") || BEGINS_WITH(text, "MPI_Bcast") ||                         \
     BEGINS_WITH(text, "MPI_Allreduce") || BEGINS_WITH(text, "MPI_Allgather") ||                   \
     BEGINS_WITH(text, "MPI_Gather") || BEGINS_WITH(text, "MPI_Scatter") ||                        \
     BEGINS_WITH(text, "MPI_Reduce") || BEGINS_WITH(text, "MPI_Comm_dup") ||                       \
     BEGINS_WITH(text, "MPI_Comm_split") || BEGINS_WITH(text, "MPI_Comm_free") ||                  \
     BEGINS_WITH(text, "MPI_Win_create") || BEGINS_WITH(text, "MPI_Win_allocate") ||               \
     BEGINS_WITH(text, "MPI_Win_fence") || BEGINS_WITH(text, "MPI_Win_free") ||                    \
     BEGINS_WITH(text, "MPI_Alltoall") || BEGINS_WITH(text, "MPI_Neighbor") ||                     \
     BEGINS_WITH(text, "MPI_Dist_graph_create") || BEGINS_WITH(text, "MPI_File_open") ||           \
     BEGINS_WITH(text, "MPI_File_close") || BEGINS_WITH(text, "MPI_File_set_view") ||              \
     BEGINS_WITH(text, "MPI_File_write_at_all") || BEGINS_WITH(text, "MPI_File_read_at_all") ||    \
     BEGINS_WITH(text, "MPI_Finalize") || BEGINS_WITH(text, "shmem_barrier_all") ||                \
     BEGINS_WITH(text, "shmem_malloc") || BEGINS_WITH(text, "shmem_calloc") ||                     \
     BEGINS_WITH(text, "shmem_free") || BEGINS_WITH(text, "shmem_finalize"))

/* End the launch, and report where this rank gave up. */
_Noreturn void watchdog_abort(void);

/* Report an error of a call with its phase and cell, and end the launch. */
_Noreturn void watchdog_failed(const char *call, const char *message);

/* Around a call: a hang or a crash in it is reported with its name. */
#define BEGIN_CALL(call)                                                                           \
    do {                                                                                           \
        if (IS_COLLECTIVE(#call)) {                                                                \
            watchdog_collectives++;                                                                \
        }                                                                                          \
        watchdog_call = #call;                                                                     \
    } while (0)
#define END_CALL() (watchdog_call = NULL)

#endif
