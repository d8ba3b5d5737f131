/* What the ranks share beyond MPI: namespaces, and the folder with the names of shared memory.
 *
 * In containers ranks share less, and MPI libraries then choose other paths. Each rank reports what
 * its own /proc shows, not what a launcher was asked for. */
#ifndef ONESIDED_SHARING_H
#define ONESIDED_SHARING_H

#include <mpi.h>
#include <stdint.h>

#include "harness/host.h"
#include "harness/json.h"

enum namespace_kind {
    NAMESPACE_USER,
    NAMESPACE_MNT,
    NAMESPACE_PID,
    NAMESPACE_IPC,
    NAMESPACE_NET,
    NAMESPACE_UTS,
    NAMESPACE_KINDS
};

/* Of one rank. The Linux kernel of a machine numbers its namespaces and files. */
struct sharing_facts {
    uint64_t namespaces[NAMESPACE_KINDS]; /* 0 if the system does not tell */
    uint64_t shm_device;                  /* /dev/shm; both 0 if there is none */
    uint64_t shm_file;
};

/* Collective: rank 0 writes "namespaces" and "dev_shm_shared". */
void sharing_write(struct json *json, const struct host_facts *host);

/* In how many different namespaces of a kind the ranks are; namespaces of two machines always
 * differ. 0 if a rank does not know its own namespace. */
int sharing_namespaces(const struct host_facts *host, const struct sharing_facts *all,
                       enum namespace_kind kind);

/* 1 if any two ranks on one machine see the same /dev/shm, 0 if two do not, -1 if there is nothing
 * to compare: no two ranks on a machine, or no /dev/shm. */
int sharing_dev_shm(const struct host_facts *host, const struct sharing_facts *all);

#endif
