/* Where the ranks run: on which hosts and machines, and on which of their cores. */
#ifndef ONESIDED_HOST_H
#define ONESIDED_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/cpus.h"
#include "harness/json.h"
#include "harness/machine.h"
#include "harness/quota.h"

#define HOST_NAME_BYTES 256

struct process_facts {
    char host[HOST_NAME_BYTES];
    char machine[MACHINE_ID_BYTES]; /* the same for all hosts of a Linux kernel; "" if unknown */
    int pid;
    int threads;                          /* of this process, with those of MPI */
    unsigned char cpus[CPUS_MAX / 8];     /* a bit for each CPU it may run on */
    unsigned char cores[CPUS_MAX / 8];    /* a bit for each core: its lowest CPU */
    unsigned char existing[CPUS_MAX / 8]; /* likewise, of all CPUs that the machine has */
    unsigned char launcher[CPUS_MAX / 8]; /* CPUs its launcher may use; empty if unknown */
    struct quota quota;                   /* of time on cores */
    size_t memory_bytes;                  /* of the machine */
};

struct host_facts {
    struct process_facts *processes; /* one for each rank */
    int ranks;
    int own_rank;
};

/* Collective: give all ranks the facts of all ranks. */
struct host_facts host_collect(void);
void host_free(struct host_facts *facts);

int host_local_rank(const struct host_facts *facts, int rank);
bool host_is_one(const struct host_facts *facts);

/* Several hosts may be one machine with its cores, memory and clock, as the nodes of a virtual
 * cluster or containers are. So two ranks are on one machine if their Linux kernels have the same
 * random boot_id. Only if the system does not tell it, the hosts' names decide. */
bool host_same_machine(const struct host_facts *facts, int first, int second);
int host_machines(const struct host_facts *facts);
int host_cores(const struct host_facts *facts); /* in the union of the masks, over all machines */
int host_existing_cores(const struct host_facts *facts); /* of the same machines */

/* Return the quota of all ranks together, in cores; INFINITY if a rank has none. */
double host_quota(const struct host_facts *facts);

/* True if a machine has fewer usable cores than threads: its ranks and their helpers (`helpers`: a
 * number for each rank, NULL for none). */
bool host_oversubscribed(const struct host_facts *facts, const int *helpers);

/* The most threads of any rank's process when the facts were collected. */
int host_most_threads(const struct host_facts *facts);

/* "core": each rank on one core of its own; "unbound": all ranks of a machine share several cores,
 * or the only core that their launcher may use; else "other". If both are true: `asked`. */
const char *host_placement(const struct host_facts *facts, const char *asked);
void host_write_processes(struct json *json, const struct host_facts *facts);

#endif
