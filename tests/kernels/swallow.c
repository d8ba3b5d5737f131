/* A faulty MPI library, for LD_PRELOAD: the SWALLOW_CALL-th call of the function SWALLOW_NAMES
 * returns success and does nothing. A request that such a call should start is complete at once.
 *
 *   cc -shared -fPIC swallow.c -o swallow.so     (with an MPI's mpicc)
 *
 * With SWALLOW_REPEATS=1 instead, a call does nothing if its origin buffer has the value that the
 * same place of the target received last: a library that keeps back values that it thinks it has
 * delivered. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACES 65536

static long long calls;

static int is_repeat(const void *buffer, MPI_Aint place)
{
    static int64_t last[PLACES];
    static char known[PLACES];
    int64_t value;
    memcpy(&value, buffer, sizeof value);
    const size_t slot = (size_t)place % PLACES;
    const int repeats = known[slot] && last[slot] == value;
    last[slot] = value;
    known[slot] = 1;
    return repeats;
}

/* Count the call; true if it is the one that does nothing. */
static int swallows(const char *function, const void *buffer, MPI_Aint place)
{
    const char *wanted = getenv("SWALLOW_NAMES");
    const char *number = getenv("SWALLOW_CALL");
    if (wanted == NULL || strcmp(wanted, function) != 0) {
        return 0;
    }
    if (number == NULL) {
        return is_repeat(buffer, place);
    }
    return ++calls == atoll(number);
}

int MPI_Put(const void *origin, int count, MPI_Datatype type, int target, MPI_Aint place,
            int target_count, MPI_Datatype target_type, MPI_Win window)
{
    return swallows("MPI_Put", origin, place)
               ? MPI_SUCCESS
               : PMPI_Put(origin, count, type, target, place, target_count, target_type, window);
}

int MPI_Get(void *origin, int count, MPI_Datatype type, int target, MPI_Aint place,
            int target_count, MPI_Datatype target_type, MPI_Win window)
{
    return swallows("MPI_Get", origin, place)
               ? MPI_SUCCESS
               : PMPI_Get(origin, count, type, target, place, target_count, target_type, window);
}

int MPI_Accumulate(const void *origin, int count, MPI_Datatype type, int target, MPI_Aint place,
                   int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win window)
{
    return swallows("MPI_Accumulate", origin, place)
               ? MPI_SUCCESS
               : PMPI_Accumulate(origin, count, type, target, place, target_count, target_type, op,
                                 window);
}

int MPI_Get_accumulate(const void *origin, int count, MPI_Datatype type, void *result,
                       int result_count, MPI_Datatype result_type, int target, MPI_Aint place,
                       int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win window)
{
    return swallows("MPI_Get_accumulate", origin, place)
               ? MPI_SUCCESS
               : PMPI_Get_accumulate(origin, count, type, result, result_count, result_type, target,
                                     place, target_count, target_type, op, window);
}

int MPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int target,
                     MPI_Aint place, MPI_Op op, MPI_Win window)
{
    return swallows("MPI_Fetch_and_op", origin, place)
               ? MPI_SUCCESS
               : PMPI_Fetch_and_op(origin, result, type, target, place, op, window);
}

int MPI_Compare_and_swap(const void *origin, const void *compared, void *result, MPI_Datatype type,
                         int target, MPI_Aint place, MPI_Win window)
{
    return swallows("MPI_Compare_and_swap", origin, place)
               ? MPI_SUCCESS
               : PMPI_Compare_and_swap(origin, compared, result, type, target, place, window);
}

/* A request that is complete already. */
static int complete_request(MPI_Request *request)
{
    return MPI_Ibarrier(MPI_COMM_SELF, request);
}

int MPI_Rput(const void *origin, int count, MPI_Datatype type, int target, MPI_Aint place,
             int target_count, MPI_Datatype target_type, MPI_Win window, MPI_Request *request)
{
    return swallows("MPI_Rput", origin, place)
               ? complete_request(request)
               : PMPI_Rput(origin, count, type, target, place, target_count, target_type, window,
                           request);
}

int MPI_Rget(void *origin, int count, MPI_Datatype type, int target, MPI_Aint place,
             int target_count, MPI_Datatype target_type, MPI_Win window, MPI_Request *request)
{
    return swallows("MPI_Rget", origin, place)
               ? complete_request(request)
               : PMPI_Rget(origin, count, type, target, place, target_count, target_type, window,
                           request);
}
