/* The machine that this process runs on: its identity, memory, scheduler and hypervisor. */
#ifndef ONESIDED_MACHINE_H
#define ONESIDED_MACHINE_H

#include <stddef.h>

#define MACHINE_ID_BYTES 64

/* The random boot_id of the Linux kernel; "" if the system does not tell it. `machine` has
 * MACHINE_ID_BYTES bytes, and is empty before. */
void machine_read_id(char *machine);

/* 0 if unknown. */
size_t machine_memory_bytes(void);

/* The scheduler's tick in Hz, 0 if unknown. */
int machine_scheduler_tick_hz(void);

/* Seconds that the hypervisor took from this machine's CPUs since the start; NAN if unknown. */
double machine_steal_s(void);

#endif
