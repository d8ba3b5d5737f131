/* To be preloaded: the keys of each window that MPI allocates, and which were locked, on stderr. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
                     MPI_Win *win)
{
    char line[1024] = "window:"; /* written at once: ranks share a terminal */
    int count = 0;
    if (info != MPI_INFO_NULL) {
        PMPI_Info_get_nkeys(info, &count);
    }
    for (int i = 0; i < count; i++) {
        char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
        const size_t length = strlen(line);
        int is_there;
        PMPI_Info_get_nthkey(info, i, key);
        PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &is_there);
        snprintf(line + length, sizeof line - length, " %s=%s", key, value);
    }
    fprintf(stderr, "%s\n", line);
    return PMPI_Win_allocate(size, unit, info, comm, base, win);
}

int MPI_Win_lock_all(int assertion, MPI_Win win)
{
    fprintf(stderr, "locked\n");
    return PMPI_Win_lock_all(assertion, win);
}
