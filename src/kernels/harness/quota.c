/* How much time on cores a process's control groups allow: versions 1 and 2 of cgroups. */
#include "harness/quota.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Read the numbers of a file of a group; return how many there are. */
static int read_numbers(const char *folder, const char *name, double *first, double *second)
{
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = length < (int)sizeof path ? fopen(path, "r") : NULL;
    if (stream == NULL) {
        return 0;
    }
    const int found = fscanf(stream, "%lf %lf", first, second);
    fclose(stream);
    return found;
}

/* Return the quota that one group sets; INFINITY without one ("max", -1). */
static double quota_of(const char *folder)
{
    double time_us = 0, period_us = 0, unused = 0;
    if (read_numbers(folder, "cpu.max", &time_us, &period_us) != 2 &&
        (read_numbers(folder, "cpu.cfs_quota_us", &time_us, &unused) != 1 ||
         read_numbers(folder, "cpu.cfs_period_us", &period_us, &unused) != 1)) {
        return INFINITY;
    }
    const bool is_limit = isfinite(time_us) && time_us > 0 && period_us > 0;
    return is_limit ? time_us / period_us : INFINITY;
}

/* Look at a group in a tree and at all groups above it. A group that is not visible, as in a
 * container, is left out. */
static void look_at_tree(struct quota *least, const char *root, const char *tree, const char *group)
{
    char folder[PATH_MAX];
    const int length = snprintf(folder, sizeof folder, "%s%s%s", root, tree, group);
    const size_t top = strlen(root) + strlen(tree);
    if (length >= (int)sizeof folder) {
        return;
    }
    for (char *end = folder + length; end != NULL; end = strrchr(folder + top, '/')) {
        *end = '\0';
        struct stat status;
        const double cores = quota_of(folder);
        if (cores < least->cores && stat(folder, &status) == 0) {
            *least = (struct quota){cores, (uint64_t)status.st_dev, (uint64_t)status.st_ino};
        }
    }
}

/* True if one of the names between commas is `cpu`, the controller of time on cores. */
static bool has_controller(const char *names)
{
    for (const char *name = names; name != NULL; name = strchr(name, ',')) {
        name += *name == ',';
        if (strcspn(name, ",") == strlen("cpu") && strncmp(name, "cpu", strlen("cpu")) == 0) {
            return true;
        }
    }
    return false;
}

/* Look at the group that a line names: "0::/group" in version 2, "4:cpu,cpuacct:/group" in version
 * 1. */
static void look_at_line(struct quota *least, const char *root, char *line)
{
    char *names = strchr(line, ':');
    char *group = names == NULL ? NULL : strchr(names + 1, ':');
    if (group == NULL) {
        return;
    }
    *group++ = '\0';
    *names++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (*names == '\0') {
        look_at_tree(least, root, "", group);
        look_at_tree(least, root, "/unified", group);
    } else if (has_controller(names)) {
        char tree[NAME_MAX];
        if (snprintf(tree, sizeof tree, "/%s", names) < (int)sizeof tree) {
            look_at_tree(least, root, tree, group);
        }
        look_at_tree(least, root, "/cpu", group);
    }
}

struct quota quota_read(const char *own, const char *root)
{
    struct quota least = {.cores = INFINITY};
    char line[PATH_MAX + NAME_MAX];
    FILE *stream = fopen(own, "r");
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL) {
        look_at_line(&least, root, line);
    }
    if (stream != NULL) {
        fclose(stream);
    }
    return least;
}

bool quota_is_same(const struct quota *first, const struct quota *second)
{
    return first->device == second->device && first->file == second->file;
}
