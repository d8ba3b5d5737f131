/* What the harness finds out about the machine: whose the cores are, quotas, namespaces. Ends with
 * the first check that fails. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/host.h"
#include "harness/share.h"
#include "harness/sharing.h"
#include "must.h"

#define NO_LIMIT {.cores = INFINITY}

static void only_the_helpers_there_are_take_cores(void)
{
    /* Two ranks on three cores of a host, and one rank on the one core of another. */
    struct process_facts processes[3] = {{.host = "first", .cores = {7}, .quota = NO_LIMIT},
                                         {.host = "first", .cores = {7}, .quota = NO_LIMIT},
                                         {.host = "second", .cores = {1}, .quota = NO_LIMIT}};
    const struct host_facts facts = {.processes = processes, .ranks = 3};
    const int at_target[] = {1, 0, 0};
    const int on_both[] = {1, 1, 0};
    const int elsewhere[] = {0, 0, 1};
    MUST(!host_oversubscribed(&facts, NULL));
    MUST(!host_oversubscribed(&facts, at_target));
    MUST(host_oversubscribed(&facts, on_both));
    MUST(host_oversubscribed(&facts, elsewhere));
    processes[0].cores[0] = processes[1].cores[0] = 1;
    MUST(host_oversubscribed(&facts, NULL));
}

static void nodes_of_one_machine_share_its_cores_and_others_do_not(void)
{
    /* Two ranks on nodes of different names that may run on the same two cores. */
    struct process_facts processes[2] = {
        {.host = "n1", .machine = "boot", .cores = {3}, .quota = NO_LIMIT},
        {.host = "n2", .machine = "boot", .cores = {3}, .quota = NO_LIMIT}};
    const struct host_facts facts = {.processes = processes, .ranks = 2};
    const int at_target[] = {1, 0};
    MUST(!host_is_one(&facts) && host_machines(&facts) == 1 && host_cores(&facts) == 2);
    MUST(!host_oversubscribed(&facts, NULL) && host_oversubscribed(&facts, at_target));
    processes[1].machine[0] = 'r';
    MUST(host_machines(&facts) == 2 && host_cores(&facts) == 4);
    MUST(!host_oversubscribed(&facts, at_target));
    /* if the system gives no answer, two names are two machines */
    processes[0].machine[0] = processes[1].machine[0] = '\0';
    MUST(host_machines(&facts) == 2);
}

static void ranks_share_the_cache_and_the_memory_of_their_own_machine_only(void)
{
    /* Three ranks on a machine, and one on another, which has less memory. */
    struct process_facts processes[4] = {{.host = "first", .memory_bytes = 3000},
                                         {.host = "first", .memory_bytes = 3000},
                                         {.host = "first", .memory_bytes = 3000},
                                         {.host = "second", .memory_bytes = 2000}};
    const struct host_facts facts = {.processes = processes, .ranks = 4};
    MUST(share_ranks(&facts, 1) == 3 && share_ranks(&facts, 3) == 1);
    MUST(share_of_memory(&facts) == 1000);
    processes[3].memory_bytes = 900;
    MUST(share_of_memory(&facts) == 900);
    /* 32 MiB for 32 ranks; the caches of a core are thrown out, too, however many share the other
     */
    MUST(share_of_cache(32 << 20, 1 << 19, 32) == 1 << 20);
    MUST(share_of_cache(32 << 20, 1 << 21, 32) == 1 << 21);
}

/* For two ranks: so many threads have cores, and one more thread has none. */
static bool usable_cores_are(const struct host_facts *facts, int cores)
{
    const int fit[] = {cores - 2, 0}, too_many[] = {cores - 1, 0};
    return !host_oversubscribed(facts, fit) && host_oversubscribed(facts, too_many);
}

static void a_quota_leaves_whole_cores_and_each_group_has_its_own(void)
{
    /* Two ranks that may both run on four cores. */
    struct process_facts processes[2] = {
        {.host = "here", .cores = {15}, .existing = {255}, .quota = {1.9, 1, 7}},
        {.host = "here", .cores = {15}, .existing = {255}, .quota = {1.9, 1, 7}}};
    const struct host_facts facts = {.processes = processes, .ranks = 2};
    MUST(host_existing_cores(&facts) == 8 && host_cores(&facts) == 4);
    MUST(host_quota(&facts) == 1.9 && usable_cores_are(&facts, 1));
    MUST(host_oversubscribed(&facts, NULL));
    processes[1].quota.file = 8; /* each in a container of its own */
    MUST(host_quota(&facts) == 3.8 && usable_cores_are(&facts, 3));
    MUST(!host_oversubscribed(&facts, NULL));
    processes[0].quota.cores = processes[1].quota.cores = 0.2;
    MUST(usable_cores_are(&facts, 1));
    processes[1].quota.cores = INFINITY;
    MUST(isinf(host_quota(&facts)) && usable_cores_are(&facts, 4));
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[1024];
    MUST(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path);
    FILE *stream = fopen(path, "w");
    MUST(stream != NULL && fputs(text, stream) >= 0 && fclose(stream) == 0);
}

static void a_quota_is_the_least_of_the_groups_above(const char *beside)
{
    char root[512], job[600], step[700], own[600];
    MUST(snprintf(root, sizeof root, "%s.groups", beside) < (int)sizeof root);
    snprintf(job, sizeof job, "%s/job", root);
    snprintf(step, sizeof step, "%s/step", job);
    snprintf(own, sizeof own, "%s/own", root);
    MUST(mkdir(root, 0700) == 0 && mkdir(job, 0700) == 0 && mkdir(step, 0700) == 0);
    MUST(isinf(quota_read(own, root).cores)); /* there is no such file */
    write_file(root, "own", "4:cpuset:/job\n0::/job/step\n");
    MUST(isinf(quota_read(own, root).cores));
    write_file(step, "cpu.max", "max 100000\n");
    MUST(isinf(quota_read(own, root).cores));
    write_file(job, "cpu.max", "150000 100000\n");
    const struct quota of_job = quota_read(own, root);
    MUST(of_job.cores == 1.5);
    write_file(step, "cpu.max", "50000 100000\n");
    const struct quota of_step = quota_read(own, root);
    MUST(of_step.cores == 0.5 && !quota_is_same(&of_job, &of_step));
    write_file(step, "cpu.max", "no number\n");
    MUST(quota_read(own, root).cores == 1.5);

    /* Version 1, from a container in which the host's path of its group is not to be seen. */
    char tree[600];
    snprintf(tree, sizeof tree, "%s/cpu,cpuacct", root);
    MUST(mkdir(tree, 0700) == 0);
    write_file(root, "own", "4:cpuset:/x\n3:cpu,cpuacct:/of/the/host\n");
    write_file(tree, "cpu.cfs_quota_us", "-1\n");
    write_file(tree, "cpu.cfs_period_us", "100000\n");
    MUST(isinf(quota_read(own, root).cores));
    write_file(tree, "cpu.cfs_quota_us", "250000\n");
    MUST(quota_read(own, root).cores == 2.5);
}

static void ranks_on_all_that_their_launcher_may_use_are_not_bound(void)
{
    /* Two ranks on the second of four cores. */
    struct process_facts processes[2] = {
        {.host = "h", .cpus = {2}, .cores = {2}, .existing = {15}},
        {.host = "h", .cpus = {2}, .cores = {2}, .existing = {15}}};
    const struct host_facts two = {.processes = processes, .ranks = 2};
    const struct host_facts one = {.processes = processes, .ranks = 1};
    MUST(strcmp(host_placement(&two, "unbound"), "other") == 0); /* its cores are unknown */
    MUST(strcmp(host_placement(&one, "unbound"), "core") == 0);
    processes[0].launcher[0] = processes[1].launcher[0] = 2;
    MUST(strcmp(host_placement(&two, "unbound"), "unbound") == 0);
    MUST(strcmp(host_placement(&one, "unbound"), "unbound") == 0);
    MUST(strcmp(host_placement(&one, "core"), "core") == 0);
    processes[0].launcher[0] = processes[1].launcher[0] = 6; /* it put both on one of two cores */
    MUST(strcmp(host_placement(&two, "unbound"), "other") == 0);
    processes[1].cpus[0] = processes[1].cores[0] = 4;
    MUST(strcmp(host_placement(&two, "unbound"), "core") == 0);
}

static void namespaces_are_counted_by_machine_and_null_is_not_one(void)
{
    struct process_facts processes[3] = {{.machine = "a"}, {.machine = "a"}, {.machine = "b"}};
    const struct host_facts two = {.processes = processes, .ranks = 2};
    const struct host_facts three = {.processes = processes, .ranks = 3};
    struct sharing_facts all[3] = {
        {.namespaces = {1, 5}}, {.namespaces = {1, 6}}, {.namespaces = {1, 5}}};
    MUST(sharing_namespaces(&two, all, NAMESPACE_USER) == 1);
    MUST(sharing_namespaces(&two, all, NAMESPACE_MNT) == 2);
    MUST(sharing_namespaces(&three, all, NAMESPACE_USER) == 2); /* one number, two machines */
    MUST(sharing_namespaces(&three, all, NAMESPACE_MNT) == 3);
    MUST(sharing_namespaces(&two, all, NAMESPACE_PID) == 0);
}

static void dev_shm_is_shared_if_device_and_file_are_the_same_on_each_machine(void)
{
    struct process_facts processes[3] = {{.machine = "a"}, {.machine = "a"}, {.machine = "b"}};
    const struct host_facts two = {.processes = processes, .ranks = 2};
    const struct host_facts apart = {.processes = processes + 1, .ranks = 2};
    const struct host_facts three = {.processes = processes, .ranks = 3};
    const struct sharing_facts one[3] = {{.shm_device = 24, .shm_file = 1},
                                         {.shm_device = 24, .shm_file = 1},
                                         {.shm_device = 30, .shm_file = 1}};
    const struct sharing_facts other_mount[2] = {{.shm_device = 24, .shm_file = 1},
                                                 {.shm_device = 25, .shm_file = 1}};
    const struct sharing_facts other_folder[2] = {{.shm_device = 24, .shm_file = 1},
                                                  {.shm_device = 24, .shm_file = 2}};
    const struct sharing_facts one_has_none[2] = {{.shm_device = 24, .shm_file = 1},
                                                  {.shm_device = 0}};
    const struct sharing_facts none[2] = {{.shm_device = 0}, {.shm_device = 0}};
    MUST(sharing_dev_shm(&two, one) == 1);
    MUST(sharing_dev_shm(&three, one) == 1);
    MUST(sharing_dev_shm(&two, other_mount) == 0);
    MUST(sharing_dev_shm(&two, other_folder) == 0);
    MUST(sharing_dev_shm(&two, one_has_none) == 0);
    MUST(sharing_dev_shm(&two, none) == -1);
    MUST(sharing_dev_shm(&apart, other_mount) == -1);
}

/* Lengths around which the end of the message needs its own block. */
int main(int argument_count, char **arguments)
{
    MUST(argument_count == 2);
    only_the_helpers_there_are_take_cores();
    nodes_of_one_machine_share_its_cores_and_others_do_not();
    ranks_share_the_cache_and_the_memory_of_their_own_machine_only();
    a_quota_leaves_whole_cores_and_each_group_has_its_own();
    a_quota_is_the_least_of_the_groups_above(arguments[1]);
    ranks_on_all_that_their_launcher_may_use_are_not_bound();
    namespaces_are_counted_by_machine_and_null_is_not_one();
    dev_shm_is_shared_if_device_and_file_are_the_same_on_each_machine();
    return EXIT_SUCCESS;
}
