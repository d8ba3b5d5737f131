/* identify: which MPI a compiler wrapper really links.
 *
 * One process, no launcher: these calls are among the few that MPI allows before MPI_Init. The
 * first line is the file that the library was loaded from, the rest what it says of itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    Dl_info found;
    void *address = dlsym(RTLD_DEFAULT, "MPI_Get_library_version");
    if (!address || !dladdr(address, &found))
        return 3;
    MPI_Get_library_version(version, &length);
    printf("%s\n%s\n", found.dli_fname, version);
    return 0;
}
