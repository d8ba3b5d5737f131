/* Threads, or processes, that begin together, outside MPI. */
#include "mpi/team.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/clock.h"
#include "mpi/await.h"

double meet(struct meeting *meeting, int participants, MPI_Comm processes)
{
    const uint64_t round = atomic_load(&meeting->round);
    if (atomic_fetch_add(&meeting->arrived, 1) + 1 == participants) {
        atomic_store(&meeting->arrived, 0);
        meeting->stamp_s = clock_now_s();
        atomic_store(&meeting->round, round + 1);
    } else if (processes != MPI_COMM_NULL) {
        await_word(&meeting->round, round + 1, processes);
    }
    while (atomic_load(&meeting->round) == round) {
        sched_yield();
    }
    return meeting->stamp_s;
}

bool team_is_supported(const struct launch *launch, struct record *record, int threads,
                       enum thread_level needed)
{
    const bool is_supported = threads == 1 || launch->thread_provided >= needed;
    if (!is_supported) {
        record_status(record, CELL_UNSUPPORTED,
                      "several threads need MPI_THREAD_%s: asked for %s, provided %s",
                      needed == THREAD_MULTIPLE     ? "MULTIPLE"
                      : needed == THREAD_SERIALIZED ? "SERIALIZED"
                                                    : "FUNNELED",
                      thread_level_name(launch->thread_required),
                      thread_level_name(launch->thread_provided));
    }
    return is_supported;
}

pthread_t team_start(void *(*thread_main)(void *), void *argument)
{
    pthread_t thread;
    const int fault = pthread_create(&thread, NULL, thread_main, argument);
    if (fault != 0) {
        fprintf(stderr, "no thread: %s\n", strerror(fault));
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return thread;
}

/* All members, before a task and after it. */
static void gather(struct team *team, struct meeting *meeting)
{
    if (team->sleeps) {
        thread_barrier_wait(&team->asleep);
    } else {
        meet(meeting, team->count, MPI_COMM_NULL);
    }
}

static void *member_main(void *argument)
{
    const struct member *member = argument;
    struct team *team = member->team;
    for (;;) {
        gather(team, &team->begin);
        if (team->is_over) {
            return NULL;
        }
        team->task(team->state, member->number);
        gather(team, &team->end);
    }
}

void team_open(struct team *team)
{
    if (team->sleeps) {
        thread_barrier_open(&team->asleep, team->count);
    }
    for (int number = 1; number < team->count; number++) {
        struct member *member = &team->members[number];
        *member = (struct member){.team = team, .number = number};
        member->thread = team_start(member_main, member);
    }
}

void team_run(struct team *team)
{
    gather(team, &team->begin);
    team->task(team->state, 0);
    gather(team, &team->end);
}

void team_close(struct team *team)
{
    if (team->count > 1) {
        team->is_over = true;
        gather(team, &team->begin);
    }
    for (int number = 1; number < team->count; number++) {
        pthread_join(team->members[number].thread, NULL);
    }
    if (team->sleeps) {
        thread_barrier_close(&team->asleep);
    }
}
