/* Parts of the harness that a good launch never reaches: faulty sequences, odd bytes, cut
 * lines. Ends with the first check that fails. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/cells.h"
#include "harness/compute.h"
#include "harness/host.h"
#include "harness/lines.h"
#include "harness/plan.h"
#include "harness/record.h"
#include "harness/sha256.h"
#include "harness/share.h"
#include "harness/sharing.h"
#include "harness/verification.h"

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)

#define NO_LIMIT {.cores = INFINITY}

static void a_whole_sequence_passes_and_each_fault_is_seen(void)
{
    const int begins[] = {0, 3, 5};
    const int64_t whole[] = {0, 2, 4, 1, 3};
    const int64_t repeated[] = {0, 2, 4, 1, 4};
    const int64_t beyond[] = {0, 2, 5, 1, 3};
    const int64_t falling[] = {0, 4, 2, 1, 3};
    const int64_t negative[] = {-1, 2, 4, 1, 3};
    MUST(verify_sequence(whole, begins, 2).errors == 0);
    MUST(verify_sequence(whole, begins, 2).checked == 5);
    MUST(verify_sequence(repeated, begins, 2).errors == 2); /* one twice, one never */
    MUST(verify_sequence(beyond, begins, 2).errors == 2);
    MUST(verify_sequence(falling, begins, 2).errors == 1);
    MUST(verify_sequence(negative, begins, 2).errors == 2);
    MUST(strcmp(verify_sequence(falling, begins, 2).first_mismatch, "rank 0 got 2 after 4") == 0);
}

static void a_value_knows_its_sample_and_its_place(void)
{
    struct verification found = {.name = "values"};
    int other_samples = 0, other_places = 0;
    for (size_t i = 0; i < 1000; i++) {
        const int64_t value = value_of_sample(41, i);
        MUST(value > 0 && value <= INT64_C(1) << 30);
        other_samples += value != value_of_sample(40, i);
        other_places += value != value_of_sample(41, i + 1);
        verify_element(&found, value ^ (i == 77), value_of_sample(41, i), i, 41);
    }
    MUST(other_samples > 990 && other_places > 990);
    MUST(found.checked == 1000 && found.errors == 1);
    MUST(strstr(found.first_mismatch, "element 77 of sample 41"));
    MUST(verify_exact("sum", 10, 10).errors == 0);
    MUST(verify_exact("sum", 10, 11).errors == 1);
}

static void a_burst_is_as_long_as_its_budget_allows(void)
{
    const struct plan asked = {.burst = 1000, .samples = 10};
    struct plan plan = plan_bursts(asked, 1e-6, 1.0);
    MUST(plan.burst == 1000 && plan.samples == 10);
    plan = plan_bursts(asked, 1e-6, 2e-3); /* ten bursts of a hundred take 1 ms */
    MUST(plan.burst == 100 && plan.samples == 10);
    plan = plan_bursts(asked, 1e-3, 4.5e-3); /* not even one operation ten times */
    MUST(plan.burst == 1 && plan.samples == 4);
    plan = plan_bursts(asked, 1.0, 1e-3);
    MUST(plan.burst == 1 && plan.samples == 1);
}

static void an_axis_without_meaning_makes_no_cell(void)
{
    static const struct variant {
        const char *name;
    } variants[] = {{"put"}, {"get"}, {"collective"}}, kinds[] = {{"create"}, {"allocate"}};
    static const struct axis axes[] = {
        {.name = "variant",
         .kind = AXIS_CHOICE,
         .fallback = "put,collective",
         .choices = TABLE(variants)},
        {.name = "flavor",
         .kind = AXIS_CHOICE,
         .fallback = "create,allocate",
         .choices = TABLE(kinds),
         .only_with = "variant=put,get"},
        {.name = "size", .kind = AXIS_INTEGER, .fallback = "8", .maximum = 64},
    };
    static const struct option more[] = {
        {.name = "cells", .argument = "BLOCK", .help = "cells", .kind = OPTION_REPEATED},
    };
    char *none[] = {"units"};
    char *blocks[] = {"units", "--cells", "variant=get;flavor=create", "--cells",
                      "variant=collective;flavor=none"};
    struct option *of_axes = axis_options(axes, 3);
    struct options options = {.program = "units"};
    options_add(&options, of_axes, 3);
    options_add(&options, more, 1);
    options_parse(&options, 1, none);
    struct grid grid = grid_build(axes, 3, &options);
    MUST(grid.count == 3); /* one cell of the collective, not one a flavor */
    MUST(strcmp(grid.cells[1].id, "variant=put,flavor=allocate,size=8") == 0);
    MUST(strcmp(grid.cells[2].id, "variant=collective,flavor=none,size=8") == 0);
    MUST(cell_choice(&grid.cells[2], "flavor") == NULL);
    grid_free(&grid);
    options_parse(&options, 5, blocks);
    grid = grid_build(axes, 3, &options);
    MUST(grid.count == 2);
    MUST(strcmp(grid.cells[0].id, "variant=get,flavor=create,size=8") == 0);
    MUST(strcmp(grid.cells[1].id, "variant=collective,flavor=none,size=8") == 0);
    grid_free(&grid);
    options_free(&options);
    free(of_axes);
}

static void any_byte_becomes_json(void)
{
    struct json json = {0};
    json_open(&json, '[');
    json_text(&json, "a\"b\\c\n\x01 \xc3\xa9 \xff \xc0\xaf \xed\xa0\x80 \xf0\x9f\x98\x80");
    json_number(&json, NAN);
    json_number(&json, 1e-9);
    json_text(&json, NULL);
    json_open(&json, '{');
    json_close(&json, '}');
    json_close(&json, ']');
    MUST(strcmp(json.bytes, "[\"a\\\"b\\\\c\\u000a\\u0001 \xc3\xa9 \\ufffd \\ufffd\\ufffd "
                            "\\ufffd\\ufffd\\ufffd \xf0\x9f\x98\x80\",null,1e-09,null,{}]") == 0);
    json_free(&json);
}

static void only_whole_lines_mark_a_cell_as_tried(const char *path)
{
    struct cell cells[] = {{.id = "a=1"}, {.id = "a=2"}, {.id = "a=3"}, {.id = "a=4"}};
    const struct grid grid = {cells, 4};
    bool tried[4] = {false};
    FILE *stream = fopen(path, "w");
    MUST(stream != NULL);
    fputs("{\"type\":\"started\",\"cell\":\"a=1\",\"index\":0}\n"
          "{\"type\":\"result\",\"cell\":\"a=2\",\"labels\":{\"a\":1}\n" /* cut, then a line end */
          "{\"type\":\"result\",\"cell\":\"a=3\",\"detail\":\"} \\\" {\",\"series\":[]}\n"
          "{\"type\":\"header\",\"cell\":\"a=4\"}\n"
          "{\"type\":\"started\",\"cell\":\"a=4\",\"index\":3}", /* no line end */
          stream);
    fclose(stream);
    lines_mark_tried(path, &grid, tried);
    MUST(tried[0] && !tried[1] && tried[2] && !tried[3]);
}

static void a_series_keeps_the_first_samples_and_counts_the_rest(void)
{
    struct record record = {0};
    struct series *series = record_series(&record, "access", "s", 1);
    for (int i = 0; i < SERIES_SAMPLES_MAX + 3; i++) {
        series_add(series, i);
    }
    MUST(series->count == SERIES_SAMPLES_MAX && series->dropped == 3);
    MUST(series->samples[SERIES_SAMPLES_MAX - 1] == SERIES_SAMPLES_MAX - 1);
    record_free(&record);
}

static void the_worst_status_stays(void)
{
    struct record record = {0};
    record_status(&record, CELL_WRONG_DATA, "first");
    record_status(&record, CELL_HELPER_RETURNED, "second");
    MUST(record.status == CELL_WRONG_DATA && strcmp(record.detail, "first") == 0);
}

static void random_numbers_repeat_and_stay_below_one(void)
{
    uint64_t first = 5, second = 5;
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        const double number = random_unit(&first);
        MUST(number >= 0 && number < 1 && number == random_unit(&second));
        sum += number;
    }
    MUST(sum > 4800 && sum < 5200);
}

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
static void a_digest_is_that_of_the_standard_at_every_length(const char *path)
{
    static const struct {
        size_t length;
        const char *digest;
    } of_letter_a[] = {
        {0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {1, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"},
        {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
        {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
        {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
        {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
        {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
        {119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
        {120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"},
        {1000, "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"},
    };
    char digest[SHA256_TEXT_BYTES];
    for (size_t i = 0; i < sizeof of_letter_a / sizeof of_letter_a[0]; i++) {
        FILE *stream = fopen(path, "w");
        MUST(stream != NULL);
        for (size_t byte = 0; byte < of_letter_a[i].length; byte++) {
            fputc('a', stream);
        }
        fclose(stream);
        MUST(sha256_of_file(path, digest));
        MUST(strcmp(digest, of_letter_a[i].digest) == 0);
    }
    MUST(!sha256_of_file("/nowhere", digest));
    MUST(!sha256_of_file("/", digest)); /* opens, and cannot be read */
}

int main(int argument_count, char **arguments)
{
    MUST(argument_count == 2);
    a_whole_sequence_passes_and_each_fault_is_seen();
    a_value_knows_its_sample_and_its_place();
    a_burst_is_as_long_as_its_budget_allows();
    an_axis_without_meaning_makes_no_cell();
    any_byte_becomes_json();
    only_whole_lines_mark_a_cell_as_tried(arguments[1]);
    a_series_keeps_the_first_samples_and_counts_the_rest();
    the_worst_status_stays();
    random_numbers_repeat_and_stay_below_one();
    only_the_helpers_there_are_take_cores();
    nodes_of_one_machine_share_its_cores_and_others_do_not();
    ranks_share_the_cache_and_the_memory_of_their_own_machine_only();
    a_quota_leaves_whole_cores_and_each_group_has_its_own();
    a_quota_is_the_least_of_the_groups_above(arguments[1]);
    ranks_on_all_that_their_launcher_may_use_are_not_bound();
    namespaces_are_counted_by_machine_and_null_is_not_one();
    dev_shm_is_shared_if_device_and_file_are_the_same_on_each_machine();
    a_digest_is_that_of_the_standard_at_every_length(arguments[1]);
    return EXIT_SUCCESS;
}
