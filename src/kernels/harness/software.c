/* What a launch uses besides its MPI: compiler, processors, and the libraries that MPIs use. */
#include "harness/software.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/memory.h"
#include "harness/world.h"

#define MODEL_BYTES 128
#define DIGEST_DIGITS 64

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

/* The SHA-256 of the binary that runs; false: sha256sum is missing, or cannot read the binary.
 * sha256sum is not started by fork: a copy of this process could take memory away from the network
 * card that writes to it. */
static bool find_digest(char digest[DIGEST_DIGITS + 1])
{
    char path[32], answer[DIGEST_DIGITS + sizeof path];
    char *words[] = {"sha256sum", path, NULL}, *no_variables[] = {NULL};
    size_t length = 0;
    ssize_t more = 0;
    int ends[2], status = 1;
    pid_t process;
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)getpid());
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const bool started = posix_spawnp(&process, words[0], &actions, NULL, words, no_variables) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    while (started && (more = read(ends[0], answer + length, sizeof answer - length)) > 0) {
        length += (size_t)more;
    }
    close(ends[0]);
    snprintf(digest, DIGEST_DIGITS + 1, "%.*s", (int)length, answer);
    const bool ended = started && waitpid(process, &status, 0) == process;
    return ended && status == 0 && length > DIGEST_DIGITS;
}

void software_write_program(struct json *json)
{
    static const char *const variables[] = {"APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"};
    char digest[DIGEST_DIGITS + 1];
    const char *image = NULL;
    for (size_t i = 0; image == NULL && i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i]);
        image = value == NULL || value[0] == '\0' ? NULL : value;
    }
    json_key_text(json, "program_sha256", find_digest(digest) ? digest : NULL);
    json_key_text(json, "container", image);
}
