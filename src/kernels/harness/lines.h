/* The file of JSON lines: one rank appends and flushes whole lines; a line that is cut is no
 * line. */
#ifndef ONESIDED_LINES_H
#define ONESIDED_LINES_H

#include <stdbool.h>

#include "harness/cells.h"
#include "harness/json.h"

/* Open the file for appending (standard output if NULL); -1 and errno if this fails. A file that
 * ends in a cut line gets a line end first, so that the next line stands alone. */
int lines_open(const char *path);

/* Append a line in one write; false and errno if this fails. Frees the text. */
bool lines_append(int descriptor, struct json *line);

/* The same; if this fails, print a message with the program's name and end the launch. */
void lines_append_or_end(const char *program, int descriptor, struct json *line);

/* Mark the cells of a grid that have a started or a result line in the file. */
void lines_mark_tried(const char *path, const struct grid *grid, bool *tried);

#endif
