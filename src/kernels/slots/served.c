/* Accesses to rank 0's memory that their origins make, or that a server makes for them. */
#include "slots/served.h"

bool served_is_supported(const struct launch *launch, enum serves serves, bool computes,
                         struct record *record)
{
    if (serves == A_THREAD && !server_thread_is_supported(launch, record)) {
        return false;
    }
    if (serves == A_RANK && launch->ranks < 3) {
        record_status(record, CELL_UNSUPPORTED,
                      "a server that is a rank of its own needs 3 ranks: found %d", launch->ranks);
        return false;
    }
    return !computes || meeting_is_supported(launch, record);
}

/* True if the server is a rank, which serves in a burst until all others have released it. */
static bool is_called(const struct served *served)
{
    return served->serves == TARGET_ITSELF || served->serves == A_RANK;
}

static double go(void *state, long long burst)
{
    struct served *served = state;
    if (is_called(served) && served->slots.launch->rank == served->server.rank) {
        server_serve(&served->server);
        return 0;
    }
    const double passed_s = served->go(state, burst);
    if (is_called(served)) {
        server_release(&served->server);
    }
    return passed_s;
}

static void prepare(void *state, long long burst)
{
    struct served *served = state;
    server_hold(&served->server);
    served->prepare(state, burst);
    server_let(&served->server);
}

static void check(void *state, long long burst)
{
    struct served *served = state;
    server_hold(&served->server);
    served->check(state, burst);
    server_let(&served->server);
}

/* Run a trial with the server. */
static void run_with_server(struct served *served, struct trial *trial)
{
    const struct launch *launch = served->slots.launch;
    const int rank = launch->rank;
    served->server = (struct server){.record = served->slots.record,
                                     .rank = served->serves == A_RANK ? launch->ranks - 1 : TARGET,
                                     .is_thread = served->serves == A_THREAD,
                                     .answer = served->answer,
                                     .state = served};
    served->memory = rank == TARGET ? served->slots.window->memory : (char *)served->slots.shared;
    served->prepare = trial->prepare;
    served->go = trial->go;
    served->check = trial->check;
    trial->prepare = prepare;
    trial->go = go;
    trial->check = check;
    trial->is_behind = served->serves == TARGET_ITSELF;
    trial->part = rank > served->slots.origins ? LOOKS_ON : trial->part;
    server_start(&served->server);
    trial_run(trial);
    server_stop(&served->server);
}

void served_run(struct served *served, bool computes)
{
    struct slots *slots = &served->slots;
    if (served->serves == NOBODY) {
        slots_run(slots, "time", computes);
        return;
    }
    slots->flavor = &flavors[served->serves == A_RANK ? FLAVOR_SHARED : FLAVOR_ALLOCATE];
    slots->origins -= served->serves == A_RANK ? 1 : 0;
    slots->holds_lock_all = true;
    if (slots_open(slots)) {
        struct trial trial = slots_trial(slots, "time", computes);
        run_with_server(served, &trial);
        slots_close(slots);
    }
}
