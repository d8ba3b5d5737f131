/* A cell as a C program of its own: no harness, no model, its bytes and datatypes as literals. */
#ifndef ONESIDED_CONFORMANCE_PROGRAM_H
#define ONESIDED_CONFORMANCE_PROGRAM_H

#include <stdio.h>

#include "data/conformance/plan.h"

/* On rank 0: write it where --program says; a fault of the file is said on standard error. */
void program_write(struct plan *plan);

/* Print the tables of bytes that the program compares with, and begins with. */
void print_data(FILE *file, struct plan *plan);

/* The operations of an origin (program_operations.c), and the epoch around them (program_epoch.c).
 */
void print_operations(FILE *file, const struct plan *plan);
void print_epoch(FILE *file, const struct plan *plan);

#endif
