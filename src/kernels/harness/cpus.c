/* Sets of CPUs: which this process may use, which the machine has, and their cores. */
#include "harness/cpus.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool cpus_has(const unsigned char *mask, int bit)
{
    return (mask[bit / 8] >> (bit % 8) & 1) != 0;
}

static void set(unsigned char *mask, int bit)
{
    mask[bit / 8] |= (unsigned char)(1 << (bit % 8));
}

int cpus_count(const unsigned char *mask)
{
    int bits = 0;
    for (int bit = 0; bit < CPUS_MAX; bit++) {
        bits += cpus_has(mask, bit);
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

void cpus_set_listed(unsigned char *mask, const char *list)
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

void cpus_set_cores(unsigned char *cores, const unsigned char *cpus)
{
    for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
        if (cpus_has(cpus, cpu)) {
            set(cores, core_of(cpu));
        }
    }
}

void cpus_read_existing(unsigned char *cores)
{
    unsigned char online[CPUS_MAX / 8] = {0};
    char list[1024] = "";
    FILE *stream = fopen("/sys/devices/system/cpu/online", "r");
    if (stream != NULL) {
        if (fgets(list, sizeof list, stream) != NULL) {
            cpus_set_listed(online, list);
        }
        fclose(stream);
    }
    if (cpus_count(online) == 0) {
        const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
        for (int cpu = 0; cpu < cpus && cpu < CPUS_MAX; cpu++) {
            set(online, cpu);
        }
    }
    cpus_set_cores(cores, online);
}

void cpus_read_allowed(unsigned char *mask)
{
    cpu_set_t *allowed = CPU_ALLOC(CPUS_MAX);
    const size_t size_bytes = CPU_ALLOC_SIZE(CPUS_MAX);
    if (allowed != NULL && sched_getaffinity(0, size_bytes, allowed) == 0) {
        for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
            if (CPU_ISSET_S((size_t)cpu, size_bytes, allowed)) {
                set(mask, cpu);
            }
        }
    }
    CPU_FREE(allowed);
}

void cpus_move_to(int number)
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
