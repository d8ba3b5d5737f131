/* What the ranks share beyond MPI: namespaces, and the folder with the names of shared memory. */
#include "harness/sharing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/memory.h"
#include "harness/world.h"

static const char *const kind_names[NAMESPACE_KINDS] = {"user", "mnt", "pid", "ipc", "net", "uts"};

/* Read a number out of the link's text, "pid:[4026531836]". */
static uint64_t own_namespace(const char *kind)
{
    char path[64];
    char text[64];
    uint64_t number = 0;
    snprintf(path, sizeof path, "/proc/self/ns/%s", kind);
    const ssize_t length = readlink(path, text, sizeof text - 1);
    if (length <= 0) {
        return 0;
    }
    text[length] = '\0';
    return sscanf(text, "%*[^[][%" SCNu64 "]", &number) == 1 ? number : 0;
}

static struct sharing_facts own_facts(void)
{
    struct sharing_facts facts = {0};
    struct stat shm;
    for (int kind = 0; kind < NAMESPACE_KINDS; kind++) {
        facts.namespaces[kind] = own_namespace(kind_names[kind]);
    }
    if (stat("/dev/shm", &shm) == 0) {
        facts.shm_device = (uint64_t)shm.st_dev;
        facts.shm_file = (uint64_t)shm.st_ino;
    }
    return facts;
}

/* True if no rank before this one is in its namespace. */
static bool first_of_namespace(const struct host_facts *host, const struct sharing_facts *all,
                               enum namespace_kind kind, int rank)
{
    for (int other = 0; other < rank; other++) {
        if (host_same_machine(host, other, rank) &&
            all[other].namespaces[kind] == all[rank].namespaces[kind]) {
            return false;
        }
    }
    return true;
}

int sharing_namespaces(const struct host_facts *host, const struct sharing_facts *all,
                       enum namespace_kind kind)
{
    int namespaces = 0;
    for (int rank = 0; rank < host->ranks; rank++) {
        if (all[rank].namespaces[kind] == 0) {
            return 0;
        }
        namespaces += first_of_namespace(host, all, kind, rank);
    }
    return namespaces;
}

static bool has_dev_shm(const struct sharing_facts *facts)
{
    return facts->shm_device != 0 || facts->shm_file != 0;
}

int sharing_dev_shm(const struct host_facts *host, const struct sharing_facts *all)
{
    int shared = -1;
    for (int rank = 0; rank < host->ranks; rank++) {
        for (int other = 0; other < rank; other++) {
            const struct sharing_facts *first = &all[other], *second = &all[rank];
            if (!host_same_machine(host, other, rank) ||
                (!has_dev_shm(first) && !has_dev_shm(second))) {
                continue;
            }
            if (first->shm_device != second->shm_device || first->shm_file != second->shm_file) {
                return 0;
            }
            shared = 1;
        }
    }
    return shared;
}

void sharing_write(struct json *json, const struct host_facts *host)
{
    const struct sharing_facts own = own_facts();
    struct sharing_facts *all = allocate((size_t)host->ranks, sizeof own);
    world_gather(&own, all, sizeof own);
    json_key(json, "namespaces");
    json_open(json, '{');
    for (int kind = 0; kind < NAMESPACE_KINDS; kind++) {
        const int namespaces = sharing_namespaces(host, all, (enum namespace_kind)kind);
        json_key(json, kind_names[kind]);
        if (namespaces > 0) {
            json_integer(json, namespaces);
        } else {
            json_null(json);
        }
    }
    json_close(json, '}');
    const int shared = sharing_dev_shm(host, all);
    json_key(json, "dev_shm_shared");
    if (shared < 0) {
        json_null(json);
    } else {
        json_boolean(json, shared == 1);
    }
    free(all);
}
