/* Target states: what the target does while origins access its window. */
#include <math.h>

#include "mpi/checked.h"
#include "mpi/probing.h"
#include "rma/ghost.h"
#include "stfc/progress/experiment.h"

/* The wait itself follows: in the barrier, or in the call that ends the target's part of an active
 * epoch. */
static struct presence stay_idle(struct experiment *experiment, double length_s)
{
    (void)experiment;
    (void)length_s;
    return (struct presence){
        .entry_s = clock_now_s(), .exit_s = NAN, .run_delay_s = NAN, .involuntary_switches = NAN};
}

static struct presence presence_of(const struct compute_sample *sample)
{
    return (struct presence){.entry_s = sample->begin_s,
                             .exit_s = sample->end_s,
                             .run_delay_s = sample->run_delay_s,
                             .involuntary_switches = sample->involuntary_switches};
}

static struct presence stay_computing(struct experiment *experiment, double length_s)
{
    const struct compute_sample sample = compute_for(&experiment->launch->compute, length_s);
    return presence_of(&sample);
}

static struct presence stay_probing(struct experiment *experiment, double length_s)
{
    const double interval_s = 1e-6 * cell_number(experiment->cell, "probe_interval_us");
    const struct compute_sample sample = compute_probing(&experiment->launch->compute, length_s,
                                                         interval_s, &experiment->page->visits);
    return presence_of(&sample);
}

/* Read a word that no operation touches again and again, as if waiting for a flag. */
static struct presence stay_polling(struct experiment *experiment, double length_s)
{
    const volatile int64_t *word = (const int64_t *)(void *)spare_memory(&experiment->slots, 0);
    const double delay_s = run_delay_s();
    struct presence presence = {.entry_s = clock_now_s(), .involuntary_switches = NAN};
    do {
        CHECKED(MPI_Win_sync(experiment->slots.window->handle));
        atomic_fetch_add(&experiment->page->visits, 1);
        presence.exit_s = clock_now_s();
    } while (presence.exit_s < presence.entry_s + length_s && *word < 0);
    presence.run_delay_s = run_delay_s() - delay_s;
    return presence;
}

void pass_on(struct experiment *experiment)
{
    if (experiment->target_state->has_ghost) {
        ghost_pass_on(experiment->slots.window, experiment->holder);
    }
}

const struct target_state target_states[] = {
    {.name = "idle", .stay = stay_idle},
    {.name = "computes", .leaves = true, .stay = stay_computing},
    {.name = "computes_probing", .leaves = true, .visits = true, .stay = stay_probing},
    {.name = "polls_memory",
     .leaves = true,
     .visits = true,
     .holds_lock_all = true,
     .stay = stay_polling},
    {.name = "helper_blocked", .leaves = true, .helper = &helper_blocked, .stay = stay_computing},
    {.name = "helper_polling", .leaves = true, .helper = &helper_polling, .stay = stay_computing},
    {.name = "ghost_process", .leaves = true, .has_ghost = true, .stay = stay_computing},
};
