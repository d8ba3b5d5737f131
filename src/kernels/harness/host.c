/* Where the ranks run: hosts, CPU masks, cores, the scheduler's tick, time stolen from the host. */
#include "harness/host.h"

#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "harness/clock.h"
#include "harness/memory.h"
#include "harness/world.h"

static bool has(const unsigned char *mask, int bit)
{
    return (mask[bit / 8] >> (bit % 8) & 1) != 0;
}

static void set(unsigned char *mask, int bit)
{
    mask[bit / 8] |= (unsigned char)(1 << (bit % 8));
}

static int count(const unsigned char *mask)
{
    int bits = 0;
    for (int bit = 0; bit < CPUS_MAX; bit++) {
        bits += has(mask, bit);
    }
    return bits;
}

/* Return the lowest CPU that shares the core of this one; itself if the system does not tell. */
static int core_of(int cpu)
{
    char path[128];
    int lowest = cpu;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *stream = fopen(path, "r");
    if (stream != NULL) {
        if (fscanf(stream, "%d", &lowest) != 1 || lowest < 0 || lowest >= CPUS_MAX) {
            lowest = cpu;
        }
        fclose(stream);
    }
    return lowest;
}

/* Set the bits of a list as the system writes it: 0-3,8. */
static void set_listed(unsigned char *mask, const char *list)
{
    for (char *rest; *list != '\0'; list = *rest == ',' ? rest + 1 : "") {
        const long first = strtol(list, &rest, 10);
        if (rest == list) {
            return;
        }
        const long last = *rest == '-' ? strtol(rest + 1, &rest, 10) : first;
        for (long bit = first; bit >= 0 && bit <= last && bit < CPUS_MAX; bit++) {
            set(mask, (int)bit);
        }
    }
}

static void set_cores(unsigned char *cores, const unsigned char *cpus)
{
    for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
        if (has(cpus, cpu)) {
            set(cores, core_of(cpu));
        }
    }
}

/* All CPUs that the machine has, usable or not. */
static void read_existing(unsigned char *cores)
{
    unsigned char online[CPUS_MAX / 8] = {0};
    char list[1024] = "";
    FILE *stream = fopen("/sys/devices/system/cpu/online", "r");
    if (stream != NULL) {
        if (fgets(list, sizeof list, stream) != NULL) {
            set_listed(online, list);
        }
        fclose(stream);
    }
    if (count(online) == 0) {
        const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
        for (int cpu = 0; cpu < cpus && cpu < CPUS_MAX; cpu++) {
            set(online, cpu);
        }
    }
    set_cores(cores, online);
}

/* The CPUs that the launcher may use on its own host, as the launch script tells them. */
static void read_launcher(struct process_facts *facts)
{
    const char *told = getenv("ONESIDED_LAUNCHER_CPUS");
    const size_t length = strlen(facts->host);
    if (told != NULL && strncmp(told, facts->host, length) == 0 && told[length] == ':') {
        set_listed(facts->launcher, told + length + 1);
    }
}

void host_move_to(int number)
{
    const size_t size_bytes = CPU_ALLOC_SIZE(CPUS_MAX);
    cpu_set_t *allowed = CPU_ALLOC(CPUS_MAX), *one = CPU_ALLOC(CPUS_MAX);
    if (allowed != NULL && one != NULL && sched_getaffinity(0, size_bytes, allowed) == 0) {
        int before = number % CPU_COUNT_S(size_bytes, allowed), cpu = 0;
        while (!CPU_ISSET_S((size_t)cpu, size_bytes, allowed) || before-- > 0) {
            cpu++;
        }
        CPU_ZERO_S(size_bytes, one);
        CPU_SET_S((size_t)cpu, size_bytes, one);
        sched_setaffinity(0, size_bytes, one);
        sched_setaffinity(0, size_bytes, allowed);
    }
    CPU_FREE(allowed);
    CPU_FREE(one);
}

static void read_masks(struct process_facts *facts)
{
    cpu_set_t *allowed = CPU_ALLOC(CPUS_MAX);
    const size_t size_bytes = CPU_ALLOC_SIZE(CPUS_MAX);
    if (allowed != NULL && sched_getaffinity(0, size_bytes, allowed) == 0) {
        for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
            if (CPU_ISSET_S((size_t)cpu, size_bytes, allowed)) {
                set(facts->cpus, cpu);
            }
        }
    }
    CPU_FREE(allowed);
    set_cores(facts->cores, facts->cpus);
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

static void read_machine(char *machine)
{
    FILE *stream = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (stream == NULL) {
        return;
    }
    if (fgets(machine, MACHINE_ID_BYTES, stream) == NULL) {
        machine[0] = '\0';
    }
    fclose(stream);
}

static size_t machine_memory_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (size_t)pages * (size_t)page_bytes : 0;
}

static struct process_facts own_facts(void)
{
    struct process_facts facts = {.pid = (int)getpid(), .threads = own_threads()};
    gethostname(facts.host, sizeof facts.host - 1);
    read_machine(facts.machine);
    read_masks(&facts);
    read_existing(facts.existing);
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
    return count(cores);
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
            cores += count(facts->processes[rank].existing);
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

/* In this namespace the pid may belong to another process, so the value must be there, too. */
static bool can_read(pid_t process, uintptr_t address, uint64_t value)
{
    uint64_t found = ~value;
    struct iovec local = {&found, sizeof found};
    struct iovec remote = {(void *)address, sizeof found}; /* an address in that process */
    return process_vm_readv(process, &local, 1, &remote, 1, 0) == (ssize_t)sizeof found &&
           found == value;
}

int host_may_read_memory(const struct host_facts *facts)
{
    const volatile uint64_t value = (uint64_t)(1e9 * clock_now_s()) ^ 0x9E3779B97F4A7C15u;
    uint64_t published[2] = {(uint64_t)(uintptr_t)&value, value};
    int own = 0;
    if (facts->ranks < 2 || !host_is_one(facts)) {
        return -1;
    }
    world_broadcast(published, sizeof published);
    if (facts->own_rank == 1) {
        own = can_read(facts->processes[0].pid, (uintptr_t)published[0], published[1]);
    }
    int *all = allocate((size_t)facts->ranks, sizeof all[0]);
    world_gather(&own, all, sizeof own);
    const int readable = all[1];
    free(all);
    return readable;
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
    return count(own->launcher) > 0 || count(own->existing) == 1;
}

const char *host_placement(const struct host_facts *facts, const char *asked)
{
    bool each_alone = true;
    bool all_alike = true;
    for (int rank = 0; rank < facts->ranks; rank++) {
        const struct process_facts *own = &facts->processes[rank];
        each_alone &= count(own->cores) == 1;
        all_alike &= count(own->cores) > 1 || may_use_all(own);
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
            if (has(process->cpus, cpu)) {
                json_integer(json, cpu);
            }
        }
        json_close(json, ']');
        json_key_integer(json, "local_rank", host_local_rank(facts, rank));
        json_close(json, '}');
    }
    json_close(json, ']');
}

int host_scheduler_tick_hz(void)
{
    /* Linux advances its coarse clock once a tick, so the clock's resolution is the tick. It equals
     * CONFIG_HZ, and is known in containers, too, which do not have the kernel's configuration. */
    struct timespec tick;
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0 || tick.tv_sec != 0 || tick.tv_nsec <= 0) {
        return 0;
    }
    return (int)lround(1e9 / (double)tick.tv_nsec);
}

double host_steal_s(void)
{
    double fields[8];
    FILE *stream = fopen("/proc/stat", "r");
    if (stream == NULL) {
        return NAN;
    }
    /* user nice system idle iowait irq softirq steal, in ticks of the user's clock */
    const int found =
        fscanf(stream, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &fields[0], &fields[1], &fields[2],
               &fields[3], &fields[4], &fields[5], &fields[6], &fields[7]);
    fclose(stream);
    return found == 8 ? fields[7] / (double)sysconf(_SC_CLK_TCK) : NAN;
}
