/* How much time on cores a process's control groups (cgroups) allow. */
#ifndef ONESIDED_QUOTA_H
#define ONESIDED_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

struct quota {
    double cores;          /* INFINITY without a limit, or where none can be read */
    uint64_t device, file; /* of the folder of the group that sets the limit */
};

/* Return the least quota of this process's groups and of all groups above them. `own` is the file
 * that names the groups, `root` the folder in which their trees are mounted. */
struct quota quota_read(const char *own, const char *root);

/* True if one group sets both quotas: its processes share what it allows. */
bool quota_is_same(const struct quota *first, const struct quota *second);

#endif
