/* Messages, collective calls and files: calls that carry data. */
#include "carry.h"

#define IS_MESSAGE 1

#define SENT data_of(buffer, count, type)
#define GOT SENT

#define SENDS(function)                                                                            \
    CARRYING(function,                                                                             \
             (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),   \
             (buffer, count, type, to, tag, comm), SENT, NO_DATA, NO_OPERATION, buffer, AT_ONCE,   \
             NO_HOLD)
SENDS(MPI_Send)
SENDS(MPI_Ssend)
SENDS(MPI_Rsend)
SENDS(MPI_Bsend)

CARRYING(MPI_Isend,
         (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
          MPI_Request *request),
         (buffer, count, type, to, tag, comm, request), SENT, NO_DATA, NO_OPERATION, buffer,
         WITH_REQUEST, NO_HOLD)

CARRYING(MPI_Recv,
         (void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
          MPI_Status *status),
         (buffer, count, type, from, tag, comm, status), NO_DATA, GOT, NO_OPERATION, NO_VARIABLE,
         AT_ONCE, NO_HOLD)

CARRYING(MPI_Irecv,
         (void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
          MPI_Request *request),
         (buffer, count, type, from, tag, comm, request), NO_DATA, GOT, NO_OPERATION, NO_VARIABLE,
         WITH_REQUEST, NO_HOLD)

CARRYING(MPI_Sendrecv,
         (const void *buffer, int count, MPI_Datatype type, int to, int tag, void *result,
          int result_count, MPI_Datatype result_type, int from, int result_tag, MPI_Comm comm,
          MPI_Status *status),
         (buffer, count, type, to, tag, result, result_count, result_type, from, result_tag, comm,
          status),
         payload_of(buffer, count, type), payload_of(result, result_count, result_type),
         NO_OPERATION, buffer, AT_ONCE, NO_HOLD)

CARRYING(MPI_Sendrecv_replace,
         (void *buffer, int count, MPI_Datatype type, int to, int tag, int from, int result_tag,
          MPI_Comm comm, MPI_Status *status),
         (buffer, count, type, to, tag, from, result_tag, comm, status), NO_DATA, GOT, NO_OPERATION,
         NO_VARIABLE, AT_ONCE, NO_HOLD)

/* ---- Collective calls ---- */

static int is_root(int root, MPI_Comm comm)
{
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank == root;
}

CARRYING(MPI_Bcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
         (buffer, count, type, root, comm),
         is_root(root, comm) ? payload_of(buffer, count, type) : NO_DATA,
         is_root(root, comm) ? NO_DATA : payload_of(buffer, count, type), NO_OPERATION, buffer,
         AT_ONCE, NO_HOLD)

CARRYING(MPI_Reduce,
         (const void *buffer, void *result, int count, MPI_Datatype type, MPI_Op operation,
          int root, MPI_Comm comm),
         (buffer, result, count, type, operation, root, comm),
         OUT_OR_IN(buffer, result, count, type),
         is_root(root, comm) ? payload_of(result, count, type) : NO_DATA, NO_OPERATION, buffer,
         AT_ONCE, NO_HOLD)

CARRYING(MPI_Allreduce,
         (const void *buffer, void *result, int count, MPI_Datatype type, MPI_Op operation,
          MPI_Comm comm),
         (buffer, result, count, type, operation, comm), OUT_OR_IN(buffer, result, count, type),
         payload_of(result, count, type), NO_OPERATION, buffer, AT_ONCE, NO_HOLD)

/* its numbers are a matrix's products */
CARRYING(MPI_Reduce_scatter_block,
         (const void *buffer, void *result, int count, MPI_Datatype type, MPI_Op operation,
          MPI_Comm comm),
         (buffer, result, count, type, operation, comm), data_of(buffer, count, type),
         data_of(result, count, type), NO_OPERATION, buffer, AT_ONCE, NO_HOLD)

#define FROM_ALL_TO_ALL(function)                                                                  \
    CARRYING(function,                                                                             \
             (const void *buffer, int count, MPI_Datatype type, void *result, int result_count,    \
              MPI_Datatype result_type, MPI_Comm comm),                                            \
             (buffer, count, type, result, result_count, result_type, comm),                       \
             payload_of(buffer, count, type), payload_of(result, result_count, result_type),       \
             NO_OPERATION, buffer, AT_ONCE, NO_HOLD)
FROM_ALL_TO_ALL(MPI_Allgather)
FROM_ALL_TO_ALL(MPI_Alltoall)

CARRYING(MPI_Gatherv,
         (const void *buffer, int count, MPI_Datatype type, void *result, const int counts[],
          const int places[], MPI_Datatype result_type, int root, MPI_Comm comm),
         (buffer, count, type, result, counts, places, result_type, root, comm),
         payload_of(buffer, count, type), NO_DATA, NO_OPERATION, buffer, AT_ONCE, NO_HOLD)

CARRYING(MPI_Alltoallv,
         (const void *buffer, const int counts[], const int places[], MPI_Datatype type,
          void *result, const int result_counts[], const int result_places[],
          MPI_Datatype result_type, MPI_Comm comm),
         (buffer, counts, places, type, result, result_counts, result_places, result_type, comm),
         NO_DATA, payload_of(result, result_counts[0], result_type), NO_OPERATION, NO_VARIABLE,
         AT_ONCE, NO_HOLD)

/* the first existing part of either side */
static struct data part_of(const void *buffer, const int counts[], const int begins[],
                           const MPI_Datatype types[])
{
    int i = 0;
    while (i < 1 && counts[i] == 0) {
        i++;
    }
    return data_of((const char *)buffer + begins[i], counts[i], types[i]);
}

CARRYING(MPI_Alltoallw,
         (const void *buffer, const int counts[], const int begins[], const MPI_Datatype types[],
          void *result, const int result_counts[], const int result_begins[],
          const MPI_Datatype result_types[], MPI_Comm comm),
         (buffer, counts, begins, types, result, result_counts, result_begins, result_types, comm),
         NO_DATA, part_of(result, result_counts, result_begins, result_types), NO_OPERATION,
         NO_VARIABLE, AT_ONCE, NO_HOLD)

CARRYING(MPI_Neighbor_alltoallw,
         (const void *buffer, const int counts[], const MPI_Aint begins[],
          const MPI_Datatype types[], void *result, const int result_counts[],
          const MPI_Aint result_begins[], const MPI_Datatype result_types[], MPI_Comm comm),
         (buffer, counts, begins, types, result, result_counts, result_begins, result_types, comm),
         NO_DATA,
         data_of((const char *)result + result_begins[0], result_counts[0], result_types[0]),
         NO_OPERATION, NO_VARIABLE, AT_ONCE, NO_HOLD)

/* ---- Files ---- */

#undef IS_MESSAGE
#define IS_MESSAGE 2 /* nobody waits for written data, but their length must be right */

#define FILE_CALL(function, constant, sent, got, out)                                              \
    CARRYING(function,                                                                             \
             (MPI_File file, MPI_Offset place, constant void *buffer, int count,                   \
              MPI_Datatype type, MPI_Status *status),                                              \
             (file, place, buffer, count, type, status), sent, got, NO_OPERATION, out, AT_ONCE,    \
             NO_HOLD)
FILE_CALL(MPI_File_write_at, const, SENT, NO_DATA, buffer)
FILE_CALL(MPI_File_write_at_all, const, SENT, NO_DATA, buffer)
FILE_CALL(MPI_File_read_at, , NO_DATA, GOT, NO_VARIABLE)
FILE_CALL(MPI_File_read_at_all, , NO_DATA, GOT, NO_VARIABLE)

#define FILE_CALL_LATER(function, constant, sent, got, out)                                        \
    CARRYING(function,                                                                             \
             (MPI_File file, MPI_Offset place, constant void *buffer, int count,                   \
              MPI_Datatype type, MPI_Request *request),                                            \
             (file, place, buffer, count, type, request), sent, got, NO_OPERATION, out,            \
             WITH_REQUEST, NO_HOLD)
FILE_CALL_LATER(MPI_File_iwrite_at, const, SENT, NO_DATA, buffer)
FILE_CALL_LATER(MPI_File_iread_at, , NO_DATA, GOT, NO_VARIABLE)
