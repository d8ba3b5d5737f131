/* A kernel for tests: every rank verifies its own elements, and only the last rank has a further
 * check. */
#include "harness/launch.h"

static const struct axis axes[] = {
    INTEGER_AXIS("elements", "that each rank verifies", "8", 1, 1000),
};

static const struct option options[] = {
    {"wrong", NULL, "one element of the last rank is wrong", OPTION_FLAG, NULL, 0, 0},
};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    const int elements = (int)cell_number(cell, "elements");
    const bool is_last = launch->rank == launch->ranks - 1;
    struct verification shared = {.name = "shared"}, own = {.name = "of_the_last"};
    const bool wrong = is_last && options_flag(&launch->options, "wrong");
    for (int i = 0; i < elements; i++) {
        verify_element(&shared, i + (wrong && i == 3), i, (size_t)i, 1);
        verify_element(&own, i, i, (size_t)i, 1);
    }
    record_verification(record, shared);
    if (is_last) {
        record_verification(record, own);
    }
}

int main(int argument_count, char **arguments)
{
    static const struct kernel kernel = {.name = "every_rank_checks",
                                         .summary = "for tests: what every rank has verified",
                                         .axes = axes,
                                         .axis_count = sizeof axes / sizeof axes[0],
                                         .options = options,
                                         .option_count = sizeof options / sizeof options[0],
                                         .run_cell = run_cell};
    return launch_run(&kernel, argument_count, arguments);
}
