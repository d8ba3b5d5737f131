/* identify: which OpenSHMEM a compiler wrapper really links.
 *
 * One process, no launcher, as identify.c. The first line is the file that the library was loaded
 * from, the rest what it says of itself: the version of the MPI that it is part of, else its name.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <shmem.h>
#include <stdio.h>

int main(void)
{
    static char text[10000];
    int length;
    int (*of_mpi)(char *, int *);
    Dl_info found;
    /* the call also has the linker keep the library */
    void (*const start)(void) = shmem_init;
    void *address = dlsym(RTLD_DEFAULT, "shmem_init");
    if (!start || !address || !dladdr(address, &found))
        return 3;
    *(void **)&of_mpi = dlsym(RTLD_DEFAULT, "MPI_Get_library_version");
    if (of_mpi) {
        of_mpi(text, &length);
    } else {
        shmem_info_get_name(text);
    }
    printf("%s\n%s\n", found.dli_fname, text);
    return 0;
}
