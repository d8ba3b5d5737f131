/* To be preloaded: the puts of a process are made at its next MPI_Win_flush, the last put first;
 * or, as in a faulty library, only at one flush of REVERSED_PUTS_FLUSH_EACH. */
#include <mpi.h>
#include <stdlib.h>

#define MOST 100000

static struct {
    const void *origin;
    int count, target;
    MPI_Datatype type;
    MPI_Aint displacement;
    MPI_Win window;
} kept[MOST];
static int puts;

int MPI_Put(const void *origin, int count, MPI_Datatype type, int target, MPI_Aint displacement,
            int target_count, MPI_Datatype target_type, MPI_Win window)
{
    if (puts == MOST || count != target_count || type != target_type) {
        return MPI_ERR_OTHER;
    }
    kept[puts].origin = origin;
    kept[puts].count = count;
    kept[puts].target = target;
    kept[puts].type = type;
    kept[puts].displacement = displacement;
    kept[puts++].window = window;
    return MPI_SUCCESS;
}

int MPI_Win_flush(int rank, MPI_Win window)
{
    const char *each = getenv("REVERSED_PUTS_FLUSH_EACH");
    static int flushes;
    if (each != NULL && ++flushes % atoi(each) != 0) {
        return MPI_SUCCESS;
    }
    while (puts > 0) {
        puts--;
        PMPI_Put(kept[puts].origin, kept[puts].count, kept[puts].type, kept[puts].target,
                 kept[puts].displacement, kept[puts].count, kept[puts].type, kept[puts].window);
        PMPI_Win_flush(kept[puts].target, kept[puts].window);
    }
    return PMPI_Win_flush(rank, window);
}
