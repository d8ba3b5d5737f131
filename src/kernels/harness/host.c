/* Where the ranks run: on which hosts and machines, and on which of their cores. */
#include "harness/host.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/memory.h"
#include "harness/world.h"

/* The CPUs that the launcher may use on its own host, as the launch script tells them. */
static void read_launcher(struct process_facts *facts)
{
    const char *told = getenv("ONESIDED_LAUNCHER_CPUS");
    const size_t length = strlen(facts->host);
    if (told != NULL && strncmp(told, facts->host, length) == 0 && told[length] == ':') {
        cpus_set_listed(facts->launcher, told + length + 1);
    }
}

static int own_threads(void)
{
    int threads = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks != NULL && (entry = readdir(tasks)) != NULL;) {
        threads += entry->d_name[0] != '.';
    }
    if (tasks != NULL) {
        closedir(tasks);
    }
    return threads > 0 ? threads : 1; /* the system does not tell */
}

static struct process_facts own_facts(void)
{
    struct process_facts facts = {.pid = (int)getpid(), .threads = own_threads()};
    gethostname(facts.host, sizeof facts.host - 1);
    machine_read_id(facts.machine);
    cpus_read_allowed(facts.cpus);
    cpus_set_cores(facts.cores, facts.cpus);
    cpus_read_existing(facts.existing);
    read_launcher(&facts);
    facts.quota = quota_read("/proc/self/cgroup", "/sys/fs/cgroup");
    facts.memory_bytes = machine_memory_bytes();
    return facts;
}

struct host_facts host_collect(void)
{
    struct host_facts facts = {.ranks = world_ranks(), .own_rank = world_rank()};
    const struct process_facts own = own_facts();
    facts.processes = allocate((size_t)facts.ranks, sizeof own);
    world_gather(&own, facts.processes, sizeof own);
    return facts;
}

void host_free(struct host_facts *facts)
{
    free(facts->processes);
    *facts = (struct host_facts){0};
}

static bool same_host(const struct host_facts *facts, int first, int second)
{
    return strcmp(facts->processes[first].host, facts->processes[second].host) == 0;
}

bool host_same_machine(const struct host_facts *facts, int first, int second)
{
    const char *own = facts->processes[first].machine;
    const char *other = facts->processes[second].machine;
    if (own[0] == '\0' || other[0] == '\0') {
        return same_host(facts, first, second);
    }
    return strcmp(own, other) == 0;
}

/* True if no rank before this one is on its machine. */
static bool first_of_machine(const struct host_facts *facts, int rank)
{
    for (int other = 0; other < rank; other++) {
        if (host_same_machine(facts, other, rank)) {
            return false;
        }
    }
    return true;
}

int host_local_rank(const struct host_facts *facts, int rank)
{
    int local = 0;
    for (int other = 0; other < rank; other++) {
        local += same_host(facts, other, rank);
    }
    return local;
}

bool host_is_one(const struct host_facts *facts)
{
    for (int rank = 1; rank < facts->ranks; rank++) {
        if (!same_host(facts, 0, rank)) {
            return false;
        }
    }
    return true;
}

int host_machines(const struct host_facts *facts)
{
    int machines = 0;
    for (int rank = 0; rank < facts->ranks; rank++) {
        machines += first_of_machine(facts, rank);
    }
    return machines;
}

/* Count the cores in the union of the masks of the ranks on the machine of `rank`. */
static int local_cores(const struct host_facts *facts, int rank)
{
    unsigned char cores[CPUS_MAX / 8] = {0};
    for (int other = 0; other < facts->ranks; other++) {
        if (host_same_machine(facts, other, rank)) {
            for (size_t i = 0; i < sizeof cores; i++) {
                cores[i] |= facts->processes[other].cores[i];
            }
        }
    }
    return cpus_count(cores);
}

int host_cores(const struct host_facts *facts)
{
    int cores = 0;
    for (int rank = 0; rank < facts->ranks; rank++) {
        if (first_of_machine(facts, rank)) {
            cores += local_cores(facts, rank);
        }
    }
    return cores;
}

int host_existing_cores(const struct host_facts *facts)
{
    int cores = 0;
    for (int rank = 0; rank < facts->ranks; rank++) {
        if (first_of_machine(facts, rank)) {
            cores += cpus_count(facts->processes[rank].existing);
        }
    }
    return cores;
}

/* True if a rank before this one is on its machine and has its quota from the same group. */
static bool quota_is_counted(const struct host_facts *facts, int rank)
{
    for (int other = 0; other < rank; other++) {
        if (host_same_machine(facts, other, rank) &&
            quota_is_same(&facts->processes[other].quota, &facts->processes[rank].quota)) {
            return true;
        }
    }
    return false;
}

/* Return the sum of all quotas on the machine of `rank`, each once; INFINITY if a rank has none. */
static double local_quota(const struct host_facts *facts, int rank)
{
    double quota = 0;
    for (int other = 0; other < facts->ranks; other++) {
        if (host_same_machine(facts, other, rank) && !quota_is_counted(facts, other)) {
            quota += facts->processes[other].quota.cores;
        }
    }
    return quota;
}

double host_quota(const struct host_facts *facts)
{
    double quota = 0;
    for (int rank = 0; rank < facts->ranks; rank++) {
        quota += first_of_machine(facts, rank) ? local_quota(facts, rank) : 0;
    }
    return quota;
}

/* How many cores the ranks may use: a quota is rounded down to whole cores, but at least one. */
static int local_usable_cores(const struct host_facts *facts, int rank)
{
    const int cores = local_cores(facts, rank);
    const double quota = floor(local_quota(facts, rank));
    return quota >= cores ? cores : quota < 1 ? 1 : (int)quota;
}

/* Count the ranks on the machine of `rank`, and their helpers. */
static int local_threads(const struct host_facts *facts, int rank, const int *helpers)
{
    int threads = 0;
    for (int other = 0; other < facts->ranks; other++) {
        if (host_same_machine(facts, other, rank)) {
            threads += 1 + (helpers == NULL ? 0 : helpers[other]);
        }
    }
    return threads;
}

bool host_oversubscribed(const struct host_facts *facts, const int *helpers)
{
    for (int rank = 0; rank < facts->ranks; rank++) {
        if (first_of_machine(facts, rank) &&
            local_usable_cores(facts, rank) < local_threads(facts, rank, helpers)) {
            return true;
        }
    }
    return false;
}

int host_most_threads(const struct host_facts *facts)
{
    int most = 0;
    for (int rank = 0; rank < facts->ranks; rank++) {
        const int threads = facts->processes[rank].threads;
        most = threads > most ? threads : most;
    }
    return most;
}

static bool share_a_core(const struct process_facts *first, const struct process_facts *second)
{
    for (size_t i = 0; i < sizeof first->cores; i++) {
        if ((first->cores[i] & second->cores[i]) != 0) {
            return true;
        }
    }
    return false;
}

/* True if this process may use each CPU that its launcher may use. If those are unknown: true if
 * there is only one core. */
static bool may_use_all(const struct process_facts *own)
{
    for (size_t i = 0; i < sizeof own->cpus; i++) {
        if ((own->launcher[i] & ~own->cpus[i]) != 0) {
            return false;
        }
    }
    return cpus_count(own->launcher) > 0 || cpus_count(own->existing) == 1;
}

const char *host_placement(const struct host_facts *facts, const char *asked)
{
    bool each_alone = true;
    bool all_alike = true;
    for (int rank = 0; rank < facts->ranks; rank++) {
        const struct process_facts *own = &facts->processes[rank];
        each_alone &= cpus_count(own->cores) == 1;
        all_alike &= cpus_count(own->cores) > 1 || may_use_all(own);
        for (int other = 0; other < rank; other++) {
            if (host_same_machine(facts, other, rank)) {
                const struct process_facts *neighbour = &facts->processes[other];
                each_alone &= !share_a_core(own, neighbour);
                all_alike &= memcmp(own->cpus, neighbour->cpus, sizeof own->cpus) == 0;
            }
        }
    }
    if (each_alone && all_alike) {
        return strcmp(asked, "core") == 0 ? "core" : "unbound";
    }
    return each_alone ? "core" : all_alike ? "unbound" : "other";
}

void host_write_processes(struct json *json, const struct host_facts *facts)
{
    json_open(json, '[');
    for (int rank = 0; rank < facts->ranks; rank++) {
        const struct process_facts *process = &facts->processes[rank];
        json_open(json, '{');
        json_key_integer(json, "rank", rank);
        json_key_text(json, "host", process->host);
        json_key_integer(json, "pid", process->pid);
        json_key(json, "cpus");
        json_open(json, '[');
        for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
            if (cpus_has(process->cpus, cpu)) {
                json_integer(json, cpu);
            }
        }
        json_close(json, ']');
        json_key_integer(json, "local_rank", host_local_rank(facts, rank));
        json_close(json, '}');
    }
    json_close(json, ']');
}
