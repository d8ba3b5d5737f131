/* The command line as a table: a row has an option's check, its default and its line of --help. */
#include "harness/options.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"

#define EXIT_USAGE 2

int rank_of_launcher(void)
{
    static const char *const variables[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
                                            "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *rank = getenv(variables[i]);
        if (rank != NULL) {
            return atoi(rank);
        }
    }
    return 0;
}

bool first_of_launch(void)
{
    return rank_of_launcher() == 0;
}

_Noreturn void usage_fault(const char *program, const char *option, const char *found,
                           const char *expected)
{
    /* The other ranks leave without a message and without an error: launchers end all ranks when
     * one fails, and the first rank must print its message before that. */
    if (!first_of_launch()) {
        exit(EXIT_SUCCESS);
    }
    fprintf(stderr, "%s: %s: found %.120s; expected %s\n", program, option, found, expected);
    exit(EXIT_USAGE);
}

bool parse_integer(const char *text, double minimum, double maximum, long long *value)
{
    char *end = NULL;
    errno = 0;
    *value = strtoll(text, &end, 10);
    const bool whole = end != text && *end == '\0' && errno == 0;
    return whole && (double)*value >= minimum && (double)*value <= maximum;
}

bool parse_number(const char *text, double minimum, double maximum, double *value)
{
    char *end = NULL;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value) && *value >= minimum &&
           *value <= maximum;
}

void options_add(struct options *options, const struct option *table, size_t count)
{
    options->values =
        reallocate(options->values, (options->count + count) * sizeof options->values[0]);
    for (size_t i = 0; i < count; i++) {
        options->values[options->count++] = (struct option_value){.option = &table[i]};
    }
}

static struct option_value *find(const struct options *options, const char *name, size_t length)
{
    for (size_t i = 0; i < options->count; i++) {
        const char *known = options->values[i].option->name;
        if (strlen(known) == length && strncmp(known, name, length) == 0) {
            return &options->values[i];
        }
    }
    return NULL;
}

static void print_help(const struct options *options)
{
    printf("%s: %s\n\n", options->program, options->summary);
    for (size_t i = 0; i < options->count; i++) {
        const struct option *option = options->values[i].option;
        char head[160];
        snprintf(head, sizeof head, "--%s %s", option->name,
                 option->argument == NULL ? "" : option->argument);
        printf("  %s\n      %s", head, option->help);
        if (option->fallback != NULL) {
            printf(" (default: %s)", option->fallback);
        }
        printf("\n");
    }
    printf("\nExit codes: 0 complete, 2 usage, 3 wrong data, 4 something unsupported here, "
           "5 hang found by the watchdog.\n");
}

static bool is_choice(const char *choices, const char *text)
{
    const size_t length = strlen(text);
    for (const char *choice = choices; choice != NULL; choice = strchr(choice, '|')) {
        choice += *choice == '|';
        if (length > 0 && strncmp(choice, text, length) == 0 &&
            (choice[length] == '|' || choice[length] == '\0')) {
            return true;
        }
    }
    return false;
}

/* Read numbers with commas between them; return how many, 0 if the text is no such list. */
static size_t parse_numbers(const struct option *option, const char *text, double *numbers)
{
    size_t count = 0;
    for (const char *part = text; part != NULL; part = strchr(part, ',')) {
        part += count > 0;
        char *number = copy_text(part, strcspn(part, ","));
        const bool valid = count < OPTION_NUMBERS_MAX &&
                           parse_number(number, option->minimum, option->maximum, &numbers[count]);
        free(number);
        if (!valid) {
            return 0;
        }
        count++;
    }
    return count;
}

static void check_value(const struct options *options, const struct option *option,
                        const char *text)
{
    char name[64];
    char expected[160];
    long long integer = 0;
    double number = 0;
    double numbers[OPTION_NUMBERS_MAX];
    snprintf(name, sizeof name, "--%s", option->name);
    switch (option->kind) {
    case OPTION_INTEGER:
        snprintf(expected, sizeof expected, "an integer from %.0f to %.0f", option->minimum,
                 option->maximum);
        if (!parse_integer(text, option->minimum, option->maximum, &integer)) {
            usage_fault(options->program, name, text, expected);
        }
        break;
    case OPTION_NUMBER:
        snprintf(expected, sizeof expected, "a number from %g to %g", option->minimum,
                 option->maximum);
        if (!parse_number(text, option->minimum, option->maximum, &number)) {
            usage_fault(options->program, name, text, expected);
        }
        break;
    case OPTION_NUMBERS:
        snprintf(expected, sizeof expected, "at most %d numbers from %g to %g, with commas",
                 OPTION_NUMBERS_MAX, option->minimum, option->maximum);
        if (parse_numbers(option, text, numbers) == 0) {
            usage_fault(options->program, name, text, expected);
        }
        break;
    case OPTION_CHOICE:
        snprintf(expected, sizeof expected, "one of %s", option->argument);
        if (!is_choice(option->argument, text)) {
            usage_fault(options->program, name, text, expected);
        }
        break;
    case OPTION_FLAG:
    case OPTION_TEXT:
    case OPTION_REPEATED:
        break;
    }
}

static void keep_value(struct option_value *value, const char *text)
{
    if (value->option->kind != OPTION_REPEATED) {
        value->count = 0; /* the last value counts */
    }
    value->texts = reallocate(value->texts, (value->count + 1) * sizeof value->texts[0]);
    value->texts[value->count++] = text;
}

/* Read the option at `position`; return the position after it. */
static int parse_one(struct options *options, int position, int argument_count, char **arguments)
{
    const char *argument = arguments[position];
    if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
        if (first_of_launch()) {
            print_help(options);
        }
        exit(EXIT_SUCCESS);
    }
    if (strncmp(argument, "--", 2) != 0) {
        usage_fault(options->program, "command line", argument, "an option (see --help)");
    }
    const size_t length = strcspn(argument + 2, "=");
    struct option_value *value = find(options, argument + 2, length);
    if (value == NULL) {
        usage_fault(options->program, "command line", argument, "an option of --help");
    }
    const bool inside = argument[2 + length] == '=';
    if (value->option->kind == OPTION_FLAG) {
        if (inside) {
            usage_fault(options->program, argument, "a value", "none: it is a flag");
        }
        keep_value(value, "");
        return position + 1;
    }
    if (!inside && position + 1 >= argument_count) {
        usage_fault(options->program, argument, "nothing after it", value->option->argument);
    }
    const char *text = inside ? argument + 2 + length + 1 : arguments[position + 1];
    check_value(options, value->option, text);
    keep_value(value, text);
    return position + (inside ? 1 : 2);
}

void options_parse(struct options *options, int argument_count, char **arguments)
{
    for (int position = 1; position < argument_count;) {
        position = parse_one(options, position, argument_count, arguments);
    }
    for (size_t i = 0; i < options->count; i++) {
        struct option_value *value = &options->values[i];
        if (value->count == 0 && value->option->fallback != NULL) {
            keep_value(value, value->option->fallback);
        }
    }
}

void options_free(struct options *options)
{
    for (size_t i = 0; i < options->count; i++) {
        free(options->values[i].texts);
    }
    free(options->values);
    *options = (struct options){0};
}

const struct option_value *options_list(const struct options *options, const char *name)
{
    const struct option_value *value = find(options, name, strlen(name));
    assert(value != NULL);
    return value;
}

const char *options_text(const struct options *options, const char *name)
{
    const struct option_value *value = options_list(options, name);
    return value->count == 0 ? NULL : value->texts[0];
}

bool options_flag(const struct options *options, const char *name)
{
    return options_list(options, name)->count > 0;
}

long long options_integer(const struct options *options, const char *name)
{
    const struct option *option = options_list(options, name)->option;
    long long value = 0;
    const bool valid =
        parse_integer(options_text(options, name), option->minimum, option->maximum, &value);
    assert(valid);
    (void)valid;
    return value;
}

double options_number(const struct options *options, const char *name)
{
    const struct option *option = options_list(options, name)->option;
    double value = 0;
    const bool valid =
        parse_number(options_text(options, name), option->minimum, option->maximum, &value);
    assert(valid);
    (void)valid;
    return value;
}

size_t options_numbers(const struct options *options, const char *name, double *numbers,
                       size_t capacity)
{
    double all[OPTION_NUMBERS_MAX];
    const size_t count =
        parse_numbers(options_list(options, name)->option, options_text(options, name), all);
    assert(count > 0);
    const size_t kept = count < capacity ? count : capacity;
    memcpy(numbers, all, kept * sizeof all[0]);
    return kept;
}
