/* probe: what an OpenSHMEM says of itself when two of its processing elements really run.
 *
 * Both start at the highest thread level, 1 puts a pattern into symmetric memory of 0, and 0
 * verifies it and writes one JSON object to the file named on the command line, as probe.c does. It
 * is written before shmem_finalize, in which some libraries crash. Exit 0, or 3 when the pattern
 * did not arrive. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATTERN_LENGTH = 1000, VERSION_LENGTH = 10000 };

static const char *level_name(int level)
{
    if (level == SHMEM_THREAD_MULTIPLE)
        return "multiple";
    if (level == SHMEM_THREAD_SERIALIZED)
        return "serialized";
    if (level == SHMEM_THREAD_FUNNELED)
        return "funneled";
    return "single";
}

static int pattern(int index)
{
    return 7919 * index + 13;
}

/* Returns the number of elements that did not arrive at 0. */
static int put_and_verify(int rank)
{
    int *memory = shmem_malloc(PATTERN_LENGTH * sizeof *memory);
    int sent[PATTERN_LENGTH];
    int errors = 0;
    for (int i = 0; i < PATTERN_LENGTH; i++) {
        memory[i] = -1;
        sent[i] = pattern(i);
    }
    shmem_barrier_all();
    if (rank == 1) {
        shmem_int_put(memory, sent, PATTERN_LENGTH, 0);
    }
    shmem_barrier_all();
    for (int i = 0; rank == 0 && i < PATTERN_LENGTH; i++)
        errors += memory[i] != pattern(i);
    shmem_barrier_all();
    shmem_free(memory);
    return errors;
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

/* The file that gave this process its OpenSHMEM, which need not be the one it was linked with. */
static const char *library_path(void)
{
    Dl_info found;
    void *address = dlsym(RTLD_DEFAULT, "shmem_init");
    return address && dladdr(address, &found) ? found.dli_fname : "";
}

/* An OpenSHMEM that is part of an MPI has the MPI's version; others have a name. */
static void library_version(char *text, int major, int minor)
{
    char name[SHMEM_MAX_NAME_LEN];
    int length;
    int (*of_mpi)(char *, int *);
    *(void **)&of_mpi = dlsym(RTLD_DEFAULT, "MPI_Get_library_version");
    if (of_mpi) {
        of_mpi(text, &length);
        return;
    }
    shmem_info_get_name(name);
    snprintf(text, VERSION_LENGTH, "%s, OpenSHMEM %d.%d", name, major, minor);
}

static int write_findings(const char *path, int provided, int size, int errors)
{
    static char version[VERSION_LENGTH];
    int major, minor;
    FILE *stream = fopen(path, "w");
    if (!stream)
        return 1;
    shmem_info_get_version(&major, &minor);
    library_version(version, major, minor);
    fputc('{', stream);
    print_text(stream, "library_version", version);
    print_text(stream, "library_path", library_path());
    print_text(stream, "thread_level_provided", level_name(provided));
    fprintf(stream, "\"standard_version\": \"%d.%d\", \"abi\": null, ", major, minor);
    fprintf(stream, "\"ranks\": %d, \"errors\": %d}\n", size, errors);
    return fclose(stream) != 0;
}

int main(int argc, char **argv)
{
    int provided;
    int exit_code = 0;
    if (argc != 2) {
        fputs("usage: probe FILE\n", stderr);
        return 2;
    }
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) != 0) {
        fputs("probe: shmem_init_thread failed\n", stderr);
        return 1;
    }
    const int rank = shmem_my_pe();
    int errors = put_and_verify(rank);
    if (rank == 0 && write_findings(argv[1], provided, shmem_n_pes(), errors))
        exit_code = 1;
    if (errors)
        exit_code = 3;
    /* no rank crashes before the findings are written */
    shmem_barrier_all();
    shmem_finalize();
    return exit_code;
}
