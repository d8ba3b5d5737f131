/* Calls that carry no data: synchronisation, windows, completion, files, start and end. */
#include "faulty.h"

/* A call that can have any of the general faults. */
#define FAULTY(function, declared, passed)                                                         \
    int function declared                                                                          \
    {                                                                                              \
        static struct call call = {.name = #function};                                             \
        ARRIVE(fault, &call, NULL);                                                                \
        return P##function passed;                                                                 \
    }

/* The same; after the call, results of operations are complete. */
#define COMPLETING(function, declared, passed)                                                     \
    int function declared                                                                          \
    {                                                                                              \
        static struct call call = {.name = #function};                                             \
        ARRIVE(fault, &call, NULL);                                                                \
        const int code = P##function passed;                                                       \
        flip_what_is_complete();                                                                   \
        return code;                                                                               \
    }

FAULTY(MPI_Win_lock, (int type, int rank, int assertion, MPI_Win window),
       (type, rank, assertion, window))
FAULTY(MPI_Win_lock_all, (int assertion, MPI_Win window), (assertion, window))
FAULTY(MPI_Win_start, (MPI_Group group, int assertion, MPI_Win window), (group, assertion, window))
FAULTY(MPI_Win_post, (MPI_Group group, int assertion, MPI_Win window), (group, assertion, window))
FAULTY(MPI_Win_wait, (MPI_Win window), (window))
FAULTY(MPI_Win_sync, (MPI_Win window), (window))
COMPLETING(MPI_Win_fence, (int assertion, MPI_Win window), (assertion, window))
COMPLETING(MPI_Win_complete, (MPI_Win window), (window))
COMPLETING(MPI_Win_unlock, (int rank, MPI_Win window), (rank, window))
COMPLETING(MPI_Win_unlock_all, (MPI_Win window), (window))
COMPLETING(MPI_Win_flush, (int rank, MPI_Win window), (rank, window))
COMPLETING(MPI_Win_flush_local, (int rank, MPI_Win window), (rank, window))
COMPLETING(MPI_Win_flush_all, (MPI_Win window), (window))

FAULTY(MPI_Win_create,
       (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *window),
       (base, size, unit, info, comm, window))
FAULTY(MPI_Win_allocate,
       (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *window),
       (size, unit, info, comm, base, window))
FAULTY(MPI_Win_allocate_shared,
       (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *window),
       (size, unit, info, comm, base, window))
FAULTY(MPI_Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *window),
       (info, comm, window))
FAULTY(MPI_Win_attach, (MPI_Win window, void *base, MPI_Aint size), (window, base, size))
FAULTY(MPI_Win_detach, (MPI_Win window, const void *base), (window, base))
FAULTY(MPI_Win_shared_query, (MPI_Win window, int rank, MPI_Aint *size, int *unit, void *base),
       (window, rank, size, unit, base))
FAULTY(MPI_Win_free, (MPI_Win * window), (window))

FAULTY(MPI_Ibarrier, (MPI_Comm comm, MPI_Request *request), (comm, request))
FAULTY(MPI_Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status),
       (source, tag, comm, flag, status))
FAULTY(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm *copy), (comm, copy))
FAULTY(MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *part),
       (comm, color, key, part))
FAULTY(MPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part),
       (comm, type, key, info, part))
FAULTY(MPI_Comm_free, (MPI_Comm * comm), (comm))
FAULTY(MPI_Type_commit, (MPI_Datatype * type), (type))
FAULTY(MPI_Type_free, (MPI_Datatype * type), (type))
FAULTY(MPI_Finalize, (void), ())

FAULTY(MPI_File_open, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file),
       (comm, name, mode, info, file))
FAULTY(MPI_File_close, (MPI_File * file), (file))
FAULTY(MPI_File_set_view,
       (MPI_File file, MPI_Offset place, MPI_Datatype element, MPI_Datatype type,
        const char *representation, MPI_Info info),
       (file, place, element, type, representation, info))

int MPI_Barrier(MPI_Comm comm)
{
    static struct call call = {.name = "MPI_Barrier"};
    ARRIVE(fault, &call, NULL);
    const int code = PMPI_Barrier(comm);
    look_for_cell();
    return code;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    static struct call call = {.name = "MPI_Wait"};
    const MPI_Request before = *request;
    ARRIVE(fault, &call, NULL);
    const int code = PMPI_Wait(request, status);
    flip_result_of(before);
    return code;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    static struct call call = {.name = "MPI_Test"};
    const MPI_Request before = *request;
    ARRIVE(fault, &call, NULL);
    const int code = PMPI_Test(request, flag, status);
    if (*flag) {
        flip_result_of(before);
    }
    return code;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    static struct call call = {.name = "MPI_Waitall"};
    MPI_Request before[count > 0 ? count : 1];
    for (int i = 0; i < count; i++) {
        before[i] = requests[i];
    }
    ARRIVE(fault, &call, NULL);
    const int code = PMPI_Waitall(count, requests, statuses);
    for (int i = 0; i < count; i++) {
        flip_result_of(before[i]);
    }
    return code;
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    static struct call call = {.name = "MPI_Waitany"};
    MPI_Request before[count > 0 ? count : 1];
    for (int i = 0; i < count; i++) {
        before[i] = requests[i];
    }
    ARRIVE(fault, &call, NULL);
    const int code = PMPI_Waitany(count, requests, index, status);
    if (*index != MPI_UNDEFINED) {
        flip_result_of(before[*index]);
    }
    return code;
}

int MPI_Init_thread(int *count, char ***arguments, int required, int *provided)
{
    static struct call call = {.name = "MPI_Init_thread"};
    ARRIVE(fault, &call, NULL);
    const int is_lower = fault == LOWER_LEVEL || fault == FALSE_LEVEL;
    const int code =
        PMPI_Init_thread(count, arguments, is_lower ? MPI_THREAD_SINGLE : required, provided);
    if (is_lower) {
        *provided = fault == FALSE_LEVEL ? required : MPI_THREAD_SINGLE;
    }
    return code;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    static struct call call = {.name = "MPI_Comm_size"};
    static enum fault lasting; /* the world has the same size in every call */
    ARRIVE(fault, &call, NULL);
    lasting = fault != NO_FAULT ? fault : lasting;
    const int code = PMPI_Comm_size(comm, size);
    *size = lasting == ONE_RANK ? 1 : lasting == MORE_RANKS ? *size + 1 : *size;
    return code;
}
