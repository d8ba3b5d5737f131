/* The file of JSON lines: one rank appends and flushes whole lines; a line that is cut is no
 * line. */
#include "harness/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/watchdog.h"

static bool write_all(int descriptor, const char *bytes, size_t length)
{
    for (size_t written = 0; written < length;) {
        const ssize_t count = write(descriptor, bytes + written, length - written);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        written += count < 0 ? 0 : (size_t)count;
    }
    return true;
}

/* True if the file is not empty and its last byte is no line end. */
static bool ends_inside_a_line(const char *path)
{
    FILE *stream = fopen(path, "r");
    if (stream == NULL) {
        return false;
    }
    const bool inside = fseek(stream, -1, SEEK_END) == 0 && fgetc(stream) != '\n';
    fclose(stream);
    return inside;
}

int lines_open(const char *path)
{
    if (path == NULL) {
        return STDOUT_FILENO;
    }
    const bool cut = ends_inside_a_line(path);
    const int descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor >= 0 && cut && !write_all(descriptor, "\n", 1)) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

bool lines_append(int descriptor, struct json *line)
{
    line->separate = false;
    json_raw(line, "\n", 1);
    const bool whole = write_all(descriptor, line->bytes, line->length);
    json_free(line);
    return whole;
}

void lines_append_or_end(const char *program, int descriptor, struct json *line)
{
    if (!lines_append(descriptor, line)) {
        fprintf(stderr, "%s: --output: cannot be written: %s\n", program, strerror(errno));
        watchdog_abort();
    }
}

/* True if the text is one whole JSON object: its brackets close at its very end. */
static bool is_whole(const char *text, size_t length)
{
    int depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        if (quoted) {
            quoted = text[i] != '"';
            i += text[i] == '\\'; /* an escaped quote ends nothing */
        } else if (text[i] == '"') {
            quoted = true;
        } else {
            depth += (text[i] == '{' || text[i] == '[') - (text[i] == '}' || text[i] == ']');
            if (depth <= 0) {
                return depth == 0 && text[i] == '}' && i + 1 == length;
            }
        }
    }
    return false;
}

/* Return where the id of the line's cell begins (length_out: its length), NULL if it has none. The
 * harness wrote the lines: type and cell come first. */
static const char *cell_of(const char *line, size_t length, size_t *length_out)
{
    static const char *const heads[] = {"{\"type\":\"started\",\"cell\":\"",
                                        "{\"type\":\"result\",\"cell\":\""};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        const size_t head = strlen(heads[i]);
        if (length > head && strncmp(line, heads[i], head) == 0 && is_whole(line, length)) {
            *length_out = strcspn(line + head, "\"");
            return line + head;
        }
    }
    return NULL;
}

void lines_mark_tried(const char *path, const struct grid *grid, bool *tried)
{
    FILE *stream = path == NULL ? NULL : fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length = 0;
    while (stream != NULL && (length = getline(&line, &capacity, stream)) > 0) {
        size_t id_length = 0;
        const char *id = NULL;
        if (line[length - 1] == '\n') {
            id = cell_of(line, (size_t)length - 1, &id_length);
        }
        for (size_t i = 0; id != NULL && i < grid->count; i++) {
            tried[i] |= strlen(grid->cells[i].id) == id_length &&
                        strncmp(grid->cells[i].id, id, id_length) == 0;
        }
    }
    free(line);
    if (stream != NULL) {
        fclose(stream);
    }
}
