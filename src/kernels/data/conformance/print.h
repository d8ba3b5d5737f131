/* Parts of a program: datatypes, and bytes as literals. */
#ifndef ONESIDED_CONFORMANCE_PRINT_H
#define ONESIDED_CONFORMANCE_PRINT_H

#include <stdio.h>

#include "data/conformance/shape.h"

/* Print the statements that build a datatype; return the number of its variable, from *next. */
int print_datatype(FILE *file, const struct shape *shape, const struct element *element, int *next);

/* Print a table of bytes: `rows` of `columns` each. */
void print_bytes(FILE *file, const char *name, const unsigned char *bytes, long long rows,
                 long long columns);

void print_row(FILE *file, const char *name, const unsigned char *bytes, long long count);

#endif
