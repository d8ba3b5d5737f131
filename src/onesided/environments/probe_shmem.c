/* probe: what an OpenSHMEM says of itself when two of its processing elements really run.
 *
 * Both start at the highest thread level, 1 puts a pattern into symmetric memory of 0, and 0
 * verifies it and writes one JSON object to the file named on the command line, as probe.c does. It
 * is written before shmem_finalize, in which some libraries crash. Exit 0, or 3 when the pattern
 * did not arrive. */
#define _GNU_SOURCE
#include <shmem.h>

#define LIBRARY_CALL "shmem_init"
#define LIBRARY_LEVEL(name) SHMEM_THREAD_##name
#include "probe.h"

enum { VERSION_LENGTH = 10000 };

/* Returns the number of elements that did not arrive at 0. */
static int put_and_verify(int rank)
{
    int *memory = shmem_malloc(PATTERN_LENGTH * sizeof *memory);
    int sent[PATTERN_LENGTH];
    fill(sent, memory);
    shmem_barrier_all();
    if (rank == 1) {
        shmem_int_put(memory, sent, PATTERN_LENGTH, 0);
    }
    shmem_barrier_all();
    const int errors = rank == 0 ? verify(memory) : 0;
    shmem_barrier_all();
    shmem_free(memory);
    return errors;
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
    shmem_info_get_version(&major, &minor);
    library_version(version, major, minor);
    FILE *stream = open_findings(path, version, provided);
    if (!stream)
        return 1;
    fprintf(stream, "\"standard_version\": \"%d.%d\", \"abi\": null, ", major, minor);
    return close_findings(stream, size, errors);
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
