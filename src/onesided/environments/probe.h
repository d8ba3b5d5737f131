/* What the probes of an MPI and of an OpenSHMEM share: a pattern, and findings as JSON.
 *
 * A probe takes LIBRARY_CALL, a function of the library, and LIBRARY_LEVEL(NAME), a thread level.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATTERN_LENGTH = 1000 };

static int pattern(int index)
{
    return 7919 * index + 13;
}

/* Fills what is sent, and the memory that it is put into. */
static void fill(int *sent, int *memory)
{
    for (int i = 0; i < PATTERN_LENGTH; i++) {
        memory[i] = -1;
        sent[i] = pattern(i);
    }
}

/* Returns the number of elements that did not arrive. */
static int verify(const int *memory)
{
    int errors = 0;
    for (int i = 0; i < PATTERN_LENGTH; i++) {
        errors += memory[i] != pattern(i);
    }
    return errors;
}

static const char *level_name(int level)
{
    if (level == LIBRARY_LEVEL(MULTIPLE))
        return "multiple";
    if (level == LIBRARY_LEVEL(SERIALIZED))
        return "serialized";
    if (level == LIBRARY_LEVEL(FUNNELED))
        return "funneled";
    return "single";
}

static void print_text(FILE *stream, const char *name, const char *text)
{
    fprintf(stream, "\"%s\": \"", name);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c < 0x20 || *c == '"' || *c == '\\') {
            fprintf(stream, "\\u%04x", *c);
        } else {
            fputc(*c, stream);
        }
    }
    fputs("\", ", stream);
}

/* The file that gave this process its library, which need not be the one it was linked with. */
static const char *library_path(void)
{
    Dl_info found;
    void *address = dlsym(RTLD_DEFAULT, LIBRARY_CALL);
    return address && dladdr(address, &found) ? found.dli_fname : "";
}

/* Opens the file of findings with the members that both probes find alike; NULL if it cannot. */
static FILE *open_findings(const char *path, const char *version, int level)
{
    FILE *stream = fopen(path, "w");
    if (stream) {
        fputc('{', stream);
        print_text(stream, "library_version", version);
        print_text(stream, "library_path", library_path());
        print_text(stream, "thread_level_provided", level_name(level));
    }
    return stream;
}

static int close_findings(FILE *stream, int ranks, int errors)
{
    fprintf(stream, "\"ranks\": %d, \"errors\": %d}\n", ranks, errors);
    return fclose(stream) != 0;
}
