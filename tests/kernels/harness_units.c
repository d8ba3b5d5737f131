/* Parts of the harness that a good launch never reaches: faulty sequences, odd bytes, cut
 * lines. Ends with the first check that fails. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cells.h"
#include "harness/compute.h"
#include "harness/lines.h"
#include "harness/plan.h"
#include "harness/record.h"
#include "harness/verification.h"
#include "must.h"

static void a_whole_sequence_passes_and_each_fault_is_seen(void)
{
    const int begins[] = {0, 3, 5};
    const int64_t whole[] = {0, 2, 4, 1, 3};
    const int64_t repeated[] = {0, 2, 4, 1, 4};
    const int64_t beyond[] = {0, 2, 5, 1, 3};
    const int64_t falling[] = {0, 4, 2, 1, 3};
    const int64_t negative[] = {-1, 2, 4, 1, 3};
    const int64_t all_wrong[] = {9, 8, 7, 6, 5};
    const int64_t all_equal[] = {2, 2, 2, 2, 2};
    MUST(verify_sequence(whole, begins, 2).errors == 0);
    MUST(verify_sequence(whole, begins, 2).checked == 5);
    MUST(verify_sequence(repeated, begins, 2).errors == 1);
    MUST(verify_sequence(beyond, begins, 2).errors == 1);
    MUST(verify_sequence(falling, begins, 2).errors == 1);
    MUST(verify_sequence(negative, begins, 2).errors == 1);
    /* a line with more errors than checked values would not be read */
    MUST(verify_sequence(all_wrong, begins, 2).errors == 5);
    MUST(verify_sequence(all_equal, begins, 2).errors == 4);
    MUST(strcmp(verify_sequence(repeated, begins, 2).first_mismatch, "value 4 seen twice") == 0);
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
    return EXIT_SUCCESS;
}
