/* Units of the harness that no launch reaches on its good days: faulty sequences, odd bytes, cut
 * lines. Ends with the first check that fails. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cells.h"
#include "harness/compute.h"
#include "harness/host.h"
#include "harness/lines.h"
#include "harness/record.h"
#include "harness/verification.h"

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)

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

static void a_pattern_knows_its_sample_and_rank(void)
{
    unsigned char payload[1000];
    pattern_fill(payload, sizeof payload, 41, 1);
    MUST(verify_pattern(payload, sizeof payload, 41, 1).errors == 0);
    MUST(verify_pattern(payload, sizeof payload, 40, 1).errors > 900);
    MUST(verify_pattern(payload, sizeof payload, 41, 0).errors > 900);
    payload[77] ^= 1;
    MUST(verify_pattern(payload, sizeof payload, 41, 1).errors == 1);
    MUST(strstr(verify_pattern(payload, sizeof payload, 41, 1).first_mismatch, "byte 77 of"));
    MUST(verify_exact("sum", 10, 10).errors == 0);
    MUST(verify_exact("sum", 10, 11).errors == 1);
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
    struct process_facts processes[3] = {{.host = "first", .cores = {7}},
                                         {.host = "first", .cores = {7}},
                                         {.host = "second", .cores = {1}}};
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
    struct process_facts processes[2] = {{.host = "n1", .machine = "boot", .cores = {3}},
                                         {.host = "n2", .machine = "boot", .cores = {3}}};
    const struct host_facts facts = {.processes = processes, .ranks = 2};
    const int at_target[] = {1, 0};
    MUST(!host_is_one(&facts) && host_machines(&facts) == 1 && host_cores(&facts) == 2);
    MUST(!host_oversubscribed(&facts, NULL) && host_oversubscribed(&facts, at_target));
    processes[1].machine[0] = 'r';
    MUST(host_machines(&facts) == 2 && host_cores(&facts) == 4);
    MUST(!host_oversubscribed(&facts, at_target));
    /* where the system does not tell, two names are two machines */
    processes[0].machine[0] = processes[1].machine[0] = '\0';
    MUST(host_machines(&facts) == 2);
}

int main(int argument_count, char **arguments)
{
    MUST(argument_count == 2);
    a_whole_sequence_passes_and_each_fault_is_seen();
    a_pattern_knows_its_sample_and_rank();
    any_byte_becomes_json();
    only_whole_lines_mark_a_cell_as_tried(arguments[1]);
    a_series_keeps_the_first_samples_and_counts_the_rest();
    the_worst_status_stays();
    random_numbers_repeat_and_stay_below_one();
    only_the_helpers_there_are_take_cores();
    nodes_of_one_machine_share_its_cores_and_others_do_not();
    return EXIT_SUCCESS;
}
