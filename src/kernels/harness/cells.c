/* Cells: points of a grid whose axes a kernel declares; a launch carries many of them. */
#include "harness/cells.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"

#define CELLS_MAX 10000

/* The values that are asked for on each axis; a block's cells are all combinations of them. */
struct axis_list {
    struct axis_value *values;
    size_t count;
};

const char *row_name(const struct table *table, size_t index)
{
    return *(const char *const *)((const char *)table->rows + index * table->row_bytes);
}

static const void *row_named(const struct table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(row_name(table, i), name) == 0) {
            return (const char *)table->rows + i * table->row_bytes;
        }
    }
    return NULL;
}

/* Describe the values that an axis accepts, for error messages. */
static void describe_values(const struct axis *axis, char *text, size_t capacity)
{
    const bool is_choice = axis->kind == AXIS_CHOICE;
    const struct table *names = is_choice ? &axis->choices : &axis->words;
    size_t length = 0;
    if (!is_choice) {
        length = (size_t)snprintf(text, capacity, "%s from %.15g to %.15g",
                                  axis->kind == AXIS_INTEGER ? "an integer" : "a number",
                                  axis->minimum, axis->maximum);
    }
    for (size_t i = 0; i < names->count && length < capacity; i++) {
        const char *before = i > 0 ? ", " : is_choice ? "one of " : ", or one of ";
        length +=
            (size_t)snprintf(text + length, capacity - length, "%s%s", before, row_name(names, i));
    }
}

struct option *axis_options(const struct axis *axes, size_t axis_count)
{
    struct option *table = allocate(axis_count, sizeof table[0]);
    for (size_t i = 0; i < axis_count; i++) {
        table[i] = (struct option){.name = axes[i].name,
                                   .argument = "VALUE,VALUE,...",
                                   .help = axes[i].help,
                                   .kind = OPTION_TEXT,
                                   .fallback = axes[i].fallback};
    }
    return table;
}

static bool parse_value(const struct axis *axis, const char *text, struct axis_value *value)
{
    long long integer = 0;
    *value = (struct axis_value){0};
    if (axis->only_with != NULL && strcmp(text, NO_MEANING) == 0) {
        snprintf(value->text, sizeof value->text, "%s", text);
        return true;
    }
    switch (axis->kind) {
    case AXIS_CHOICE:
        value->row = row_named(&axis->choices, text);
        snprintf(value->text, sizeof value->text, "%s", text);
        return value->row != NULL;
    case AXIS_INTEGER:
        value->row = row_named(&axis->words, text);
        if (value->row != NULL) {
            snprintf(value->text, sizeof value->text, "%s", text);
            return true;
        }
        if (!parse_integer(text, axis->minimum, axis->maximum, &integer)) {
            return false;
        }
        value->number = (double)integer;
        snprintf(value->text, sizeof value->text, "%lld", integer);
        return true;
    case AXIS_NUMBER:
        if (!parse_number(text, axis->minimum, axis->maximum, &value->number)) {
            return false;
        }
        value->number += 0.0; /* minus zero becomes zero */
        snprintf(value->text, sizeof value->text, "%.12g", value->number);
        return true;
    }
    return false;
}

/* Read "value,value"; `where` names the option in an error message. */
static struct axis_list parse_list(const char *program, const char *where, const struct axis *axis,
                                   const char *text, size_t length)
{
    struct axis_list list = {0};
    for (size_t begin = 0; begin <= length;) {
        const size_t size = strcspn(text + begin, ",");
        const size_t used = size < length - begin ? size : length - begin;
        char *item = copy_text(text + begin, used);
        list.values = reallocate(list.values, (list.count + 1) * sizeof list.values[0]);
        if (!parse_value(axis, item, &list.values[list.count])) {
            char expected[512];
            char option[96];
            describe_values(axis, expected, sizeof expected);
            snprintf(option, sizeof option, "%s: %s", where, axis->name);
            usage_fault(program, option, used == 0 ? "an empty value" : item, expected);
        }
        list.count++;
        free(item);
        begin += used + 1;
    }
    return list;
}

static const struct axis *axis_named(const struct axis *axes, size_t axis_count, const char *name,
                                     size_t length)
{
    for (size_t i = 0; i < axis_count; i++) {
        if (strlen(axes[i].name) == length && strncmp(axes[i].name, name, length) == 0) {
            return &axes[i];
        }
    }
    return NULL;
}

static char *make_id(const struct axis *axes, size_t axis_count, const struct axis_value *values)
{
    char id[1024];
    size_t length = 0;
    for (size_t i = 0; i < axis_count; i++) {
        length += (size_t)snprintf(id + length, sizeof id - length, "%s%s=%s", i == 0 ? "" : ",",
                                   axes[i].name, values[i].text);
        assert(length < sizeof id);
    }
    return copy_text(id, length);
}

static bool contains(const struct grid *grid, const char *id)
{
    for (size_t i = 0; i < grid->count; i++) {
        if (strcmp(grid->cells[i].id, id) == 0) {
            return true;
        }
    }
    return false;
}

/* Tell whether an axis has a meaning, given the values of the axes before it. */
static bool has_meaning(const struct axis *axes, size_t axis_count, size_t which,
                        const struct axis_value *values)
{
    const char *condition = axes[which].only_with;
    if (condition == NULL) {
        return true;
    }
    const size_t name_length = strcspn(condition, "=");
    const struct axis *other = axis_named(axes, axis_count, condition, name_length);
    assert(other != NULL && other < &axes[which]);
    const char *value = values[other - axes].text;
    for (const char *listed = condition + name_length + 1; *listed != '\0';) {
        const size_t length = strcspn(listed, ",");
        if (strlen(value) == length && strncmp(listed, value, length) == 0) {
            return true;
        }
        listed += length + (listed[length] == ',');
    }
    return false;
}

/* Give each axis without a meaning in a cell the value NO_MEANING. An axis with a meaning must not
 * have this value. */
static void settle_meanings(const struct axis *axes, size_t axis_count, struct axis_value *values,
                            const char *program)
{
    for (size_t i = 0; i < axis_count; i++) {
        if (!has_meaning(axes, axis_count, i, values)) {
            values[i] = (struct axis_value){.text = NO_MEANING};
        } else if (strcmp(values[i].text, NO_MEANING) == 0 && axes[i].only_with != NULL) {
            usage_fault(program, axes[i].name, NO_MEANING, axes[i].only_with);
        }
    }
}

static void add_cell(struct grid *grid, const struct axis *axes, size_t axis_count,
                     struct axis_value *values, const char *program)
{
    char *id = make_id(axes, axis_count, values);
    if (contains(grid, id)) {
        free(id);
        free(values);
        return;
    }
    if (grid->count == CELLS_MAX) {
        usage_fault(program, "cells", "more than 10000", "at most 10000 cells a launch");
    }
    grid->cells = reallocate(grid->cells, (grid->count + 1) * sizeof grid->cells[0]);
    grid->cells[grid->count] = (struct cell){
        .index = grid->count, .axes = axes, .axis_count = axis_count, .values = values, .id = id};
    grid->count++;
}

/* Add all combinations of the lists' values; the last axis varies fastest. */
static void add_product(struct grid *grid, const struct axis *axes, size_t axis_count,
                        const struct axis_list *lists, const char *program)
{
    size_t total = 1;
    for (size_t i = 0; i < axis_count; i++) {
        total *= lists[i].count;
        if (total > 100 * CELLS_MAX) {
            usage_fault(program, "cells", "more than 10000", "at most 10000 cells a launch");
        }
    }
    for (size_t number = 0; number < total; number++) {
        struct axis_value *values = allocate(axis_count, sizeof values[0]);
        size_t rest = number;
        for (size_t i = axis_count; i-- > 0;) {
            values[i] = lists[i].values[rest % lists[i].count];
            rest /= lists[i].count;
        }
        settle_meanings(axes, axis_count, values, program);
        add_cell(grid, axes, axis_count, values, program);
    }
}

/* Read one block of --cells, "axis=v,v;axis=v", and add its cells. */
static void add_block(struct grid *grid, const struct axis *axes, size_t axis_count,
                      const struct axis_list *defaults, const char *block, const char *program)
{
    struct axis_list *lists = allocate(axis_count, sizeof lists[0]);
    bool *owned = allocate(axis_count, sizeof owned[0]);
    memcpy(lists, defaults, axis_count * sizeof lists[0]);
    for (const char *part = block; *part != '\0';) {
        const size_t length = strcspn(part, ";");
        const size_t name_length = strcspn(part, "=;");
        const struct axis *axis = axis_named(axes, axis_count, part, name_length);
        if (axis == NULL || part[name_length] != '=') {
            char *found = copy_text(part, length);
            usage_fault(program, "--cells", length == 0 ? "an empty part" : found,
                        "axis=value,value;axis=value with the axes of --help");
        }
        const size_t which = (size_t)(axis - axes);
        if (owned[which]) {
            usage_fault(program, "--cells", part, "each axis once in a block");
        }
        lists[which] =
            parse_list(program, "--cells", axis, part + name_length + 1, length - name_length - 1);
        owned[which] = true;
        part += length + (part[length] == ';');
    }
    add_product(grid, axes, axis_count, lists, program);
    for (size_t i = 0; i < axis_count; i++) {
        free(owned[i] ? lists[i].values : NULL);
    }
    free(owned);
    free(lists);
}

struct grid grid_build(const struct axis *axes, size_t axis_count, const struct options *options)
{
    struct grid grid = {0};
    struct axis_list *defaults = allocate(axis_count, sizeof defaults[0]);
    for (size_t i = 0; i < axis_count; i++) {
        const char *text = options_text(options, axes[i].name);
        defaults[i] = parse_list(options->program, "command line", &axes[i], text, strlen(text));
    }
    const struct option_value *blocks = options_list(options, "cells");
    for (size_t i = 0; i < blocks->count; i++) {
        add_block(&grid, axes, axis_count, defaults, blocks->texts[i], options->program);
    }
    if (blocks->count == 0) {
        add_product(&grid, axes, axis_count, defaults, options->program);
    }
    for (size_t i = 0; i < axis_count; i++) {
        free(defaults[i].values);
    }
    free(defaults);
    return grid;
}

void grid_free(struct grid *grid)
{
    for (size_t i = 0; i < grid->count; i++) {
        free(grid->cells[i].values);
        free(grid->cells[i].id);
    }
    free(grid->cells);
    *grid = (struct grid){0};
}

static const struct axis_value *value_of(const struct cell *cell, const char *axis)
{
    const struct axis *found = axis_named(cell->axes, cell->axis_count, axis, strlen(axis));
    assert(found != NULL);
    return &cell->values[found - cell->axes];
}

const void *cell_choice(const struct cell *cell, const char *axis)
{
    return value_of(cell, axis)->row;
}

const char *cell_choice_name(const struct cell *cell, const char *axis)
{
    return *(const char *const *)cell_choice(cell, axis);
}

double cell_number(const struct cell *cell, const char *axis)
{
    return value_of(cell, axis)->number;
}

void cell_write_labels(struct json *json, const struct cell *cell)
{
    json_open(json, '{');
    for (size_t i = 0; i < cell->axis_count; i++) {
        const struct axis_value *value = &cell->values[i];
        if (value->row != NULL || strcmp(value->text, NO_MEANING) == 0) {
            json_key_text(json, cell->axes[i].name, value->text);
        } else {
            json_key_number(json, cell->axes[i].name, value->number);
        }
    }
    json_close(json, '}');
}
