/* Faulty MPI libraries, for LD_PRELOAD; FAULTY_DATA names one:
 *
 *   late         operations are made only by the call that completes them at the target: a request
 *                is complete at once, and MPI_Win_flush_local does nothing
 *   span         a put writes zeros between the elements of its target's datatype
 *   two_windows  a put goes to its window, and to the window made before
 *
 *   cc -shared -fPIC faulty_data.c -o faulty_data.so     (with an MPI's mpicc) */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define MOST 256

static int is_faulty(const char *name)
{
    const char *wanted = getenv("FAULTY_DATA");
    return wanted != NULL && strcmp(wanted, name) == 0;
}

/* ---- late ---- */

struct operation {
    int is_put;
    const void *origin;
    int count, target, target_count;
    MPI_Datatype type, target_type; /* duplicates: the program may free its own */
    MPI_Aint place;
    MPI_Win window;
};
static struct operation kept[MOST];
static int waiting;

static int keep(struct operation operation)
{
    struct operation *own = &kept[waiting++];
    *own = operation;
    PMPI_Type_dup(operation.type, &own->type);
    return PMPI_Type_dup(operation.target_type, &own->target_type);
}

static void make_what_waits(void)
{
    for (int i = 0; i < waiting; i++) {
        struct operation *o = &kept[i];
        if (o->is_put) {
            PMPI_Put(o->origin, o->count, o->type, o->target, o->place, o->target_count,
                     o->target_type, o->window);
        } else {
            PMPI_Get((void *)o->origin, o->count, o->type, o->target, o->place, o->target_count,
                     o->target_type, o->window);
        }
        PMPI_Type_free(&o->type);
        PMPI_Type_free(&o->target_type);
    }
    waiting = 0;
}

int MPI_Win_flush(int rank, MPI_Win window)
{
    make_what_waits();
    return PMPI_Win_flush(rank, window);
}

int MPI_Win_flush_local(int rank, MPI_Win window)
{
    return is_faulty("late") ? MPI_SUCCESS : PMPI_Win_flush_local(rank, window);
}

int MPI_Win_unlock(int rank, MPI_Win window)
{
    make_what_waits();
    return PMPI_Win_unlock(rank, window);
}

int MPI_Win_unlock_all(MPI_Win window)
{
    make_what_waits();
    return PMPI_Win_unlock_all(window);
}

int MPI_Win_fence(int assertion, MPI_Win window)
{
    make_what_waits();
    return PMPI_Win_fence(assertion, window);
}

int MPI_Win_complete(MPI_Win window)
{
    make_what_waits();
    return PMPI_Win_complete(window);
}

/* ---- span ---- */

static int put_span(const void *origin, int count, MPI_Datatype type, int target, MPI_Aint place,
                    int target_count, MPI_Datatype target_type, MPI_Win window)
{
    MPI_Aint lowest, bytes, lower, extent;
    int packed_bytes, position = 0;
    PMPI_Type_get_true_extent(target_type, &lowest, &bytes);
    PMPI_Type_get_extent(target_type, &lower, &extent);
    bytes += (target_count - 1) * extent;
    PMPI_Pack_size(count, type, MPI_COMM_SELF, &packed_bytes);
    /* kept to the end, because the put is under way */
    char *packed = malloc((size_t)packed_bytes);
    char *span = calloc((size_t)bytes, 1);
    PMPI_Pack(origin, count, type, packed, packed_bytes, &position, MPI_COMM_SELF);
    position = 0;
    PMPI_Unpack(packed, packed_bytes, &position, span - lowest, target_count, target_type,
                MPI_COMM_SELF);
    return PMPI_Put(span, (int)bytes, MPI_BYTE, target, place + lowest, (int)bytes, MPI_BYTE,
                    window);
}

/* ---- two_windows ---- */

static MPI_Win made[MOST];
static int windows;

int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm communicator, void *memory,
                     MPI_Win *window)
{
    const int code = PMPI_Win_allocate(size, unit, info, communicator, memory, window);
    made[windows++ % MOST] = *window;
    return code;
}

static void put_before(const void *origin, int count, MPI_Datatype type, int target, MPI_Aint place,
                       int target_count, MPI_Datatype target_type, MPI_Win window)
{
    for (int i = 1; i < windows; i++) {
        if (made[i] == window) {
            PMPI_Win_lock(MPI_LOCK_SHARED, target, 0, made[i - 1]);
            PMPI_Put(origin, count, type, target, place, target_count, target_type, made[i - 1]);
            PMPI_Win_unlock(target, made[i - 1]);
        }
    }
}

/* ---- The operations ---- */

int MPI_Put(const void *origin, int count, MPI_Datatype type, int target, MPI_Aint place,
            int target_count, MPI_Datatype target_type, MPI_Win window)
{
    if (is_faulty("late")) {
        return keep((struct operation){1, origin, count, target, target_count, type, target_type,
                                       place, window});
    }
    if (is_faulty("span")) {
        return put_span(origin, count, type, target, place, target_count, target_type, window);
    }
    if (is_faulty("two_windows")) {
        put_before(origin, count, type, target, place, target_count, target_type, window);
    }
    return PMPI_Put(origin, count, type, target, place, target_count, target_type, window);
}

int MPI_Get(void *origin, int count, MPI_Datatype type, int target, MPI_Aint place,
            int target_count, MPI_Datatype target_type, MPI_Win window)
{
    if (is_faulty("late")) {
        return keep((struct operation){0, origin, count, target, target_count, type, target_type,
                                       place, window});
    }
    return PMPI_Get(origin, count, type, target, place, target_count, target_type, window);
}

/* A request that is complete already. */
static int complete_request(MPI_Request *request)
{
    return PMPI_Ibarrier(MPI_COMM_SELF, request);
}

int MPI_Rput(const void *origin, int count, MPI_Datatype type, int target, MPI_Aint place,
             int target_count, MPI_Datatype target_type, MPI_Win window, MPI_Request *request)
{
    if (!is_faulty("late")) {
        return PMPI_Rput(origin, count, type, target, place, target_count, target_type, window,
                         request);
    }
    keep((struct operation){1, origin, count, target, target_count, type, target_type, place,
                            window});
    return complete_request(request);
}

int MPI_Rget(void *origin, int count, MPI_Datatype type, int target, MPI_Aint place,
             int target_count, MPI_Datatype target_type, MPI_Win window, MPI_Request *request)
{
    if (!is_faulty("late")) {
        return PMPI_Rget(origin, count, type, target, place, target_count, target_type, window,
                         request);
    }
    keep((struct operation){0, origin, count, target, target_count, type, target_type, place,
                            window});
    return complete_request(request);
}
