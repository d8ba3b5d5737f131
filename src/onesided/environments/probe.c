/* probe: what an MPI says of itself when two of its ranks really run.
 *
 * Both ranks start at the highest thread level, rank 1 puts a pattern into rank 0's window, and
 * rank 0 verifies it and writes one JSON object to the file named on the command line: version of
 * library and standard, thread level, ABI, and the file the library was loaded from.
 * Exit 0, or 3 when the pattern did not arrive. */
#define _GNU_SOURCE
#include <mpi.h>

#define LIBRARY_CALL "MPI_Get_library_version"
#define LIBRARY_LEVEL(name) MPI_THREAD_##name
#include "probe.h"

/* Returns the number of elements that did not arrive in rank 0's window. */
static int put_and_verify(int rank)
{
    int *memory;
    int sent[PATTERN_LENGTH];
    MPI_Win window;
    MPI_Win_allocate(sizeof sent, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    fill(sent, memory);
    MPI_Win_fence(0, window);
    if (rank == 1) {
        MPI_Put(sent, PATTERN_LENGTH, MPI_INT, 0, 0, PATTERN_LENGTH, MPI_INT, window);
    }
    MPI_Win_fence(0, window);
    const int errors = rank == 0 ? verify(memory) : 0;
    MPI_Win_free(&window);
    return errors;
}

/* MPI_Abi_get_version came with MPI 5.0; it gives -1 where the library is not of the ABI. */
static void abi_version(int *major, int *minor)
{
    int (*get)(int *, int *);
    *(void **)&get = dlsym(RTLD_DEFAULT, "MPI_Abi_get_version");
    *major = *minor = -1;
    if (get)
        get(major, minor);
}

static int write_findings(const char *path, int provided, int size, int errors)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, standard, substandard, abi_major, abi_minor;
    MPI_Get_library_version(version, &length);
    MPI_Get_version(&standard, &substandard);
    abi_version(&abi_major, &abi_minor);
    FILE *stream = open_findings(path, version, provided);
    if (!stream)
        return 1;
    fprintf(stream, "\"standard_version\": \"%d.%d\", ", standard, substandard);
    fprintf(stream, abi_major > 0 ? "\"abi\": \"%d.%d\", " : "\"abi\": null, ", abi_major,
            abi_minor);
    return close_findings(stream, size, errors);
}

int main(int argc, char **argv)
{
    int provided, rank, size;
    int exit_code = 0;
    if (argc != 2) {
        fputs("usage: probe FILE\n", stderr);
        return 2;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int errors = put_and_verify(rank);
    if (rank == 0 && write_findings(argv[1], provided, size, errors))
        exit_code = 1;
    if (errors)
        exit_code = 3;
    MPI_Finalize();
    return exit_code;
}
