/* What a launch uses besides its MPI: compiler, processors, and the libraries that MPIs use. */
#include "harness/software.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"
#include "harness/world.h"

#define MODEL_BYTES 128

/* Copy the path of the first mapped file whose name begins with `name`; false: there is none. */
static bool find_mapped(const char *name, char path[PATH_MAX])
{
    char line[PATH_MAX + 128];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && !found && fgets(line, sizeof line, maps) != NULL) {
        const char *begin = strchr(line, '/');
        const char *last = strrchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        if (begin != NULL && strncmp(last + 1, name, strlen(name)) == 0) {
            snprintf(path, PATH_MAX, "%.*s", PATH_MAX - 1, begin);
            found = true;
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return found;
}

/* A function of a library that is loaded, also of one with hidden names; NULL: there is none. */
static void *function_of(const char *library, const char *function)
{
    char path[PATH_MAX];
    void *handle = find_mapped(library, path) ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *symbol = handle == NULL ? NULL : dlsym(handle, function);
    if (handle != NULL) {
        dlclose(handle); /* the library stays loaded: its user still holds it */
    }
    return symbol;
}

static void write_ucx(struct json *json)
{
    const char *(*version)(void) = NULL;
    /* In C a pointer to an object is no pointer to a function; POSIX says that this works. */
    *(void **)&version = function_of("libucp.so", "ucp_get_version_string");
    json_key_text(json, "ucx", version == NULL ? NULL : version());
}

static void write_libfabric(struct json *json)
{
    uint32_t (*version)(void) = NULL;
    char text[32] = "";
    *(void **)&version = function_of("libfabric.so", "fi_version");
    if (version != NULL) {
        snprintf(text, sizeof text, "%" PRIu32 ".%" PRIu32, version() >> 16, version() & 0xffff);
    }
    json_key_text(json, "libfabric", version == NULL ? NULL : text);
}

/* The processor that this rank runs on, in its own words; empty if the system does not tell. */
static void find_model(char model[MODEL_BYTES])
{
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "re");
    model[0] = '\0';
    while (file != NULL && model[0] == '\0' && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "model name", strlen("model name")) == 0) {
            sscanf(line, "%*[^:]: %127[^\n]", model);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

/* Write each model once. */
static void write_processors(struct json *json, int ranks)
{
    char own[MODEL_BYTES] = "";
    find_model(own);
    char (*all)[MODEL_BYTES] = allocate((size_t)ranks, sizeof own);
    world_gather(own, all, sizeof own);
    json_open(json, '[');
    for (int rank = 0; rank < ranks; rank++) {
        bool is_new = all[rank][0] != '\0';
        for (int other = 0; other < rank; other++) {
            is_new = is_new && strcmp(all[other], all[rank]) != 0;
        }
        if (is_new) {
            json_text(json, all[rank]);
        }
    }
    json_close(json, ']');
    free(all);
}

void software_write(struct json *json, int ranks)
{
    json_key(json, "build");
    json_open(json, '{');
    json_key_text(json, "compiler", ONESIDED_COMPILER);
    json_key_text(json, "flags", ONESIDED_FLAGS);
    json_close(json, '}');
    json_key(json, "transport_libraries");
    json_open(json, '{');
    write_ucx(json);
    write_libfabric(json);
    json_close(json, '}');
    json_key(json, "processors");
    write_processors(json, ranks);
}
