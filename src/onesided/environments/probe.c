/* probe: what an MPI says of itself when two of its ranks really run.
 *
 * Both ranks start at the highest thread level, rank 1 puts a pattern into rank 0's window, and
 * rank 0 verifies it and writes one JSON object to the file named on the command line: version of
 * library and standard, thread level, ABI, and the file the library was loaded from.
 * Exit 0, or 3 when the pattern did not arrive. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATTERN_LENGTH = 1000 };

static const char *level_name(int level)
{
    if (level == MPI_THREAD_MULTIPLE)
        return "multiple";
    if (level == MPI_THREAD_SERIALIZED)
        return "serialized";
    if (level == MPI_THREAD_FUNNELED)
        return "funneled";
    return "single";
}

static int pattern(int index)
{
    return 7919 * index + 13;
}

/* Returns the number of elements that did not arrive in rank 0's window. */
static int put_and_verify(int rank)
{
    int *memory;
    int sent[PATTERN_LENGTH];
    int errors = 0;
    MPI_Win window;
    MPI_Win_allocate(sizeof sent, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    for (int i = 0; i < PATTERN_LENGTH; i++) {
        memory[i] = -1;
        sent[i] = pattern(i);
    }
    MPI_Win_fence(0, window);
    if (rank == 1) {
        MPI_Put(sent, PATTERN_LENGTH, MPI_INT, 0, 0, PATTERN_LENGTH, MPI_INT, window);
    }
    MPI_Win_fence(0, window);
    for (int i = 0; rank == 0 && i < PATTERN_LENGTH; i++)
        errors += memory[i] != pattern(i);
    MPI_Win_free(&window);
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

/* The file that gave this process its MPI, which need not be the one it was linked with. */
static const char *library_path(void)
{
    Dl_info found;
    void *address = dlsym(RTLD_DEFAULT, "MPI_Get_library_version");
    return address && dladdr(address, &found) ? found.dli_fname : "";
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
    FILE *stream = fopen(path, "w");
    if (!stream)
        return 1;
    MPI_Get_library_version(version, &length);
    MPI_Get_version(&standard, &substandard);
    abi_version(&abi_major, &abi_minor);
    fputc('{', stream);
    print_text(stream, "library_version", version);
    print_text(stream, "library_path", library_path());
    print_text(stream, "thread_level_provided", level_name(provided));
    fprintf(stream, "\"standard_version\": \"%d.%d\", ", standard, substandard);
    fprintf(stream, abi_major > 0 ? "\"abi\": \"%d.%d\", " : "\"abi\": null, ", abi_major,
            abi_minor);
    fprintf(stream, "\"ranks\": %d, \"errors\": %d}\n", size, errors);
    return fclose(stream) != 0;
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
