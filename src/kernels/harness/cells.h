/* Cells: points of a grid whose axes a kernel declares; a launch carries many of them. */
#ifndef ONESIDED_CELLS_H
#define ONESIDED_CELLS_H

#include <stddef.h>

#include "harness/json.h"
#include "harness/options.h"

/* A table of structs whose first member is the name of the row: the choices of an axis. */
struct table {
    const void *rows;
    size_t count;
    size_t row_bytes;
};
#define TABLE(array) {(array), sizeof(array) / sizeof((array)[0]), sizeof((array)[0])}

/* The name of a row. */
const char *row_name(const struct table *table, size_t index);

enum axis_kind { AXIS_CHOICE, AXIS_INTEGER, AXIS_NUMBER };

struct axis {
    const char *name;
    const char *help;
    enum axis_kind kind;
    const char *fallback; /* the default values, separated by commas */
    struct table choices; /* AXIS_CHOICE */
    double minimum;       /* AXIS_INTEGER, AXIS_NUMBER */
    double maximum;
    struct table words; /* AXIS_INTEGER: words for numbers that only a launch can find; or none */
    /* NULL, or "axis=value,value" with an earlier axis: this axis has a meaning only if the earlier
     * axis has one of these values. Otherwise its only value is NO_MEANING. */
    const char *only_with;
};

/* Rows of a kernel's axes: an axis whose values are the names of a table's rows, whole numbers, or
 * numbers. */
#define CHOICE_AXIS(name_, help_, fallback_, rows_)                                                \
    CHOICE_AXIS_ONLY_WITH(name_, help_, fallback_, rows_, NULL)
#define CHOICE_AXIS_ONLY_WITH(name_, help_, fallback_, rows_, with_)                               \
    {.name = (name_),                                                                              \
     .help = (help_),                                                                              \
     .kind = AXIS_CHOICE,                                                                          \
     .fallback = (fallback_),                                                                      \
     .choices = TABLE(rows_),                                                                      \
     .only_with = (with_)}
#define INTEGER_AXIS(name_, help_, fallback_, minimum_, maximum_)                                  \
    BOUNDED_AXIS(AXIS_INTEGER, name_, help_, fallback_, minimum_, maximum_)
#define NUMBER_AXIS(name_, help_, fallback_, minimum_, maximum_)                                   \
    BOUNDED_AXIS(AXIS_NUMBER, name_, help_, fallback_, minimum_, maximum_)
#define BOUNDED_AXIS(kind_, name_, help_, fallback_, minimum_, maximum_)                           \
    {.name = (name_),                                                                              \
     .help = (help_),                                                                              \
     .kind = (kind_),                                                                              \
     .fallback = (fallback_),                                                                      \
     .minimum = (minimum_),                                                                        \
     .maximum = (maximum_)}

#define NO_MEANING "none"

struct axis_value {
    char text[48]; /* canonical: "10", never "10.0" */
    double number;
    const void *row; /* of the table of choices or words; NULL: a number */
};

struct cell {
    size_t index; /* among the cells that are asked for */
    const struct axis *axes;
    size_t axis_count;
    struct axis_value *values;
    char *id; /* "axis=value,axis=value", axes in the kernel's order */
};

struct grid {
    struct cell *cells;
    size_t count;
};

/* Return an option table with a row for each axis (free it after the options). */
struct option *axis_options(const struct axis *axes, size_t axis_count);

/* Return the cells that --AXIS and --cells ask for; a fault ends the process with exit code 2. */
struct grid grid_build(const struct axis *axes, size_t axis_count, const struct options *options);
void grid_free(struct grid *grid);

/* The value of an axis: a row of its table, or a number; NULL or 0 if it has no meaning. If the
 * axis has words: the row of a word, or NULL if the value is a number. */
const void *cell_choice(const struct cell *cell, const char *axis);
const char *cell_choice_name(const struct cell *cell, const char *axis);
double cell_number(const struct cell *cell, const char *axis);

/* Write the axes as an object: choices as text, numbers as numbers. */
void cell_write_labels(struct json *json, const struct cell *cell);

#endif
