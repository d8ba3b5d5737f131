/* The machine that this process runs on: its identity, memory, scheduler and hypervisor. */
#include "harness/machine.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

void machine_read_id(char *machine)
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

size_t machine_memory_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (size_t)pages * (size_t)page_bytes : 0;
}

int machine_scheduler_tick_hz(void)
{
    /* Linux advances its coarse clock once a tick, so the clock's resolution is the tick. It equals
     * CONFIG_HZ, and is known in containers, too, which do not have the kernel's configuration. */
    struct timespec tick;
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0 || tick.tv_sec != 0 || tick.tv_nsec <= 0) {
        return 0;
    }
    return (int)lround(1e9 / (double)tick.tv_nsec);
}

double machine_steal_s(void)
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
