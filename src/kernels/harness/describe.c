/* What a kernel is, as data: its axes with the values that each takes, and its options. */
#include "harness/describe.h"

#include <stdio.h>
#include <string.h>

/* The values of a list that is separated by commas. */
static void write_list(struct json *json, const char *list)
{
    json_open(json, '[');
    while (list != NULL && *list != '\0') {
        char value[64];
        const size_t length = strcspn(list, ",");
        snprintf(value, sizeof value, "%.*s", (int)length, list);
        json_text(json, value);
        list += length + (list[length] == ',');
    }
    json_close(json, ']');
}

static void write_names(struct json *json, const char *key, const struct table *table)
{
    json_key(json, key);
    json_open(json, '[');
    for (size_t i = 0; i < table->count; i++) {
        json_text(json, row_name(table, i));
    }
    json_close(json, ']');
}

static void write_values(struct json *json, const struct axis *axis)
{
    if (axis->kind == AXIS_CHOICE) {
        json_key_text(json, "type", "choice");
        write_names(json, "values", &axis->choices);
        return;
    }
    json_key_text(json, "type", axis->kind == AXIS_INTEGER ? "integer" : "number");
    json_key_number(json, "minimum", axis->minimum);
    json_key_number(json, "maximum", axis->maximum);
    if (axis->words.count > 0) {
        write_names(json, "words", &axis->words);
    }
}

static void write_axis(struct json *json, const struct axis *axis)
{
    json_open(json, '{');
    json_key_text(json, "name", axis->name);
    json_key_text(json, "help", axis->help);
    write_values(json, axis);
    json_key(json, "default");
    write_list(json, axis->fallback);
    json_key(json, "only_with");
    if (axis->only_with == NULL) {
        json_null(json);
    } else {
        char name[64];
        const size_t length = strcspn(axis->only_with, "=");
        snprintf(name, sizeof name, "%.*s", (int)length, axis->only_with);
        json_open(json, '{');
        json_key_text(json, "axis", name);
        json_key(json, "values");
        write_list(json, axis->only_with + length + 1);
        json_close(json, '}');
    }
    json_close(json, '}');
}

static void write_option(struct json *json, const struct option *option)
{
    json_open(json, '{');
    json_key_text(json, "name", option->name);
    json_key_text(json, "argument", option->argument);
    json_key_text(json, "help", option->help);
    json_key_text(json, "default", option->fallback);
    json_close(json, '}');
}

void describe(const struct kernel *kernel, const struct options *options)
{
    struct json json = {0};
    json_open(&json, '{');
    json_key_text(&json, "schema", "onesided/description/1");
    json_key_text(&json, "kernel", kernel->name);
    json_key_text(&json, "summary", kernel->summary);
    json_key(&json, "axes");
    json_open(&json, '[');
    for (size_t i = 0; i < kernel->axis_count; i++) {
        write_axis(&json, &kernel->axes[i]);
    }
    json_close(&json, ']');
    json_key(&json, "options");
    json_open(&json, '[');
    /* the first options are the axes */
    for (size_t i = kernel->axis_count; i < options->count; i++) {
        write_option(&json, options->values[i].option);
    }
    json_close(&json, ']');
    json_close(&json, '}');
    printf("%.*s\n", (int)json.length, json.bytes);
    json_free(&json);
}
