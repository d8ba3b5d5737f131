/* The command line as a table: a row has an option's check, its default and its line of --help. */
#ifndef ONESIDED_OPTIONS_H
#define ONESIDED_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* The greatest number of values of an OPTION_NUMBERS. */
#define OPTION_NUMBERS_MAX 8

enum option_kind {
    OPTION_FLAG,
    OPTION_INTEGER,
    OPTION_NUMBER,
    OPTION_NUMBERS, /* separated by commas */
    OPTION_CHOICE,  /* `argument` lists the choices: "single|multiple" */
    OPTION_TEXT,
    OPTION_REPEATED /* a text that may be given several times */
};

struct option {
    const char *name;     /* without the dashes */
    const char *argument; /* what --help shows for its value; NULL for a flag */
    const char *help;
    enum option_kind kind;
    const char *fallback; /* NULL: no value unless given */
    double minimum;
    double maximum;
};

/* Rows of a table: an option with a whole number, or a number. */
#define INTEGER_OPTION(name_, argument_, help_, fallback_, minimum_, maximum_)                     \
    BOUNDED_OPTION(OPTION_INTEGER, name_, argument_, help_, fallback_, minimum_, maximum_)
#define NUMBER_OPTION(name_, argument_, help_, fallback_, minimum_, maximum_)                      \
    BOUNDED_OPTION(OPTION_NUMBER, name_, argument_, help_, fallback_, minimum_, maximum_)
#define BOUNDED_OPTION(kind_, name_, argument_, help_, fallback_, minimum_, maximum_)              \
    {.name = (name_),                                                                              \
     .argument = (argument_),                                                                      \
     .help = (help_),                                                                              \
     .kind = (kind_),                                                                              \
     .fallback = (fallback_),                                                                      \
     .minimum = (minimum_),                                                                        \
     .maximum = (maximum_)}

struct option_value {
    const struct option *option;
    const char **texts; /* as given; only OPTION_REPEATED may have several */
    size_t count;
};

struct options {
    const char *program;
    const char *summary;
    struct option_value *values;
    size_t count;
};

/* Append the rows of a table; a name may be in one table only. */
void options_add(struct options *options, const struct option *table, size_t count);

/* Read the command line; a fault or --help ends the process (exit code 2 or 0). */
void options_parse(struct options *options, int argument_count, char **arguments);
void options_free(struct options *options);

bool options_flag(const struct options *options, const char *name);
long long options_integer(const struct options *options, const char *name);
double options_number(const struct options *options, const char *name);
/* Copy the numbers of OPTION_NUMBERS into `numbers`; return how many there are, at most capacity.
 */
size_t options_numbers(const struct options *options, const char *name, double *numbers,
                       size_t capacity);
const char *options_text(const struct options *options, const char *name); /* NULL: not given */
const struct option_value *options_list(const struct options *options, const char *name);

/* Read a whole text as a number from minimum to maximum; false if it is none. */
bool parse_integer(const char *text, double minimum, double maximum, long long *value);
bool parse_number(const char *text, double minimum, double maximum, double *value);

/* Print in one line which option is wrong, what was found and what was expected; end the launch
 * with exit code 2. Only before MPI_Init. */
_Noreturn void usage_fault(const char *program, const char *option, const char *found,
                           const char *expected);

/* The rank before MPI_Init, as launchers tell it; 0 in a process without a launcher. */
int rank_of_launcher(void);

/* True in the one process that prints messages before MPI_Init, so that each fault has one. */
bool first_of_launch(void);

#endif
