/* Accesses to rank 0's memory that their origins make, or that a server makes for them. */
#include "rma/served.h"

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

/* A thread needs no part in the burst; a rank serves until all others have released it. */
static bool is_called(const struct served *served)
{
    return served->serves == TARGET_ITSELF || served->serves == A_RANK;
}

static double go(void *state, long long burst)
{
    struct served *served = state;
    const struct launch *launch = served->writes.launch;
    double passed_s = 0;
    if (is_called(served) && launch->rank == served->server.rank) {
        server_serve(&served->server);
        return 0;
    }
    if (launch->rank != TARGET) {
        const double begin_s = clock_now_s();
        served->go(state, burst);
        passed_s = launch_passed_s(launch, served->writes.cell, begin_s);
    }
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

/* A trial in which the server has its part. */
static void run_with_server(struct served *served, struct trial *trial)
{
    const struct launch *launch = served->writes.launch;
    const int rank = launch->rank;
    served->server = (struct server){.record = served->writes.record,
                                     .rank = served->serves == A_RANK ? launch->ranks - 1 : TARGET,
                                     .is_thread = served->serves == A_THREAD,
                                     .answer = served->answer,
                                     .state = served};
    served->memory = rank == TARGET ? served->writes.window.memory : (char *)served->writes.shared;
    served->prepare = trial->prepare;
    served->check = trial->check;
    trial->prepare = prepare;
    trial->check = check;
    trial->is_behind = served->serves == TARGET_ITSELF;
    trial->part = rank > served->writes.origins ? LOOKS_ON : trial->part;
    server_start(&served->server);
    trial_run(trial);
    server_stop(&served->server);
}

void served_run(struct served *served, bool computes)
{
    struct writes *writes = &served->writes;
    if (served->serves != NOBODY) {
        writes->flavor = &flavors[served->serves == A_RANK ? FLAVOR_SHARED : FLAVOR_ALLOCATE];
        writes->origins -= served->serves == A_RANK ? 1 : 0;
        writes->holds_lock_all = true;
    }
    if (!writes_open(writes)) {
        return;
    }
    struct trial trial = writes_trial(writes, go, "time", computes);
    if (served->serves == NOBODY) {
        trial_run(&trial);
    } else {
        run_with_server(served, &trial);
    }
    writes_record(writes);
    writes_close(writes);
}
