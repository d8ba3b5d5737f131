/* One-sided communication. */
#include "carry.h"

#define IS_MESSAGE 0

#define ORIGIN data_of(origin, count, type)
#define RESULT data_of(result, result_count, result_type)
/* without an operation, no data are sent */
#define OPERAND (operation == MPI_NO_OP ? NO_DATA : ORIGIN)

CARRYING(MPI_Put,
         (const void *origin, int count, MPI_Datatype type, int target, MPI_Aint place,
          int target_count, MPI_Datatype target_type, MPI_Win window),
         (origin, count, type, target, place, target_count, target_type, window), ORIGIN, NO_DATA,
         NO_OPERATION, origin, AT_THE_END, {
             hold_put(carried.sent, target, place, target_count, target_type, window);
             return MPI_SUCCESS;
         })

CARRYING(MPI_Get,
         (void *origin, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
          MPI_Datatype target_type, MPI_Win window),
         (origin, count, type, target, place, target_count, target_type, window), NO_DATA, ORIGIN,
         NO_OPERATION, NO_VARIABLE, AT_THE_END, {
             hold_get(carried.got, target, place, target_count, target_type, window);
             return MPI_SUCCESS;
         })

CARRYING(MPI_Accumulate,
         (const void *origin, int count, MPI_Datatype type, int target, MPI_Aint place,
          int target_count, MPI_Datatype target_type, MPI_Op operation, MPI_Win window),
         (origin, count, type, target, place, target_count, target_type, operation, window),
         OPERAND, NO_DATA, operation, origin, AT_THE_END, NO_HOLD)

CARRYING(MPI_Get_accumulate,
         (const void *origin, int count, MPI_Datatype type, void *result, int result_count,
          MPI_Datatype result_type, int target, MPI_Aint place, int target_count,
          MPI_Datatype target_type, MPI_Op operation, MPI_Win window),
         (origin, count, type, result, result_count, result_type, target, place, target_count,
          target_type, operation, window),
         OPERAND, RESULT, operation, origin, AT_THE_END, NO_HOLD)

CARRYING(MPI_Fetch_and_op,
         (const void *origin, void *result, MPI_Datatype type, int target, MPI_Aint place,
          MPI_Op operation, MPI_Win window),
         (origin, result, type, target, place, operation, window),
         (operation == MPI_NO_OP ? NO_DATA : data_of(origin, 1, type)), data_of(result, 1, type),
         operation, origin, AT_THE_END, NO_HOLD)

CARRYING(MPI_Compare_and_swap,
         (const void *origin, const void *compared, void *result, MPI_Datatype type, int target,
          MPI_Aint place, MPI_Win window),
         (origin, compared, result, type, target, place, window), data_of(origin, 1, type),
         ((struct data){result, 1, type, compared}), NO_OPERATION, origin, AT_THE_END, NO_HOLD)

CARRYING(MPI_Rput,
         (const void *origin, int count, MPI_Datatype type, int target, MPI_Aint place,
          int target_count, MPI_Datatype target_type, MPI_Win window, MPI_Request *request),
         (origin, count, type, target, place, target_count, target_type, window, request), ORIGIN,
         NO_DATA, NO_OPERATION, origin, WITH_REQUEST, NO_HOLD)

CARRYING(MPI_Rget,
         (void *origin, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
          MPI_Datatype target_type, MPI_Win window, MPI_Request *request),
         (origin, count, type, target, place, target_count, target_type, window, request), NO_DATA,
         ORIGIN, NO_OPERATION, NO_VARIABLE, WITH_REQUEST, NO_HOLD)

CARRYING(MPI_Raccumulate,
         (const void *origin, int count, MPI_Datatype type, int target, MPI_Aint place,
          int target_count, MPI_Datatype target_type, MPI_Op operation, MPI_Win window,
          MPI_Request *request),
         (origin, count, type, target, place, target_count, target_type, operation, window,
          request),
         OPERAND, NO_DATA, operation, origin, WITH_REQUEST, NO_HOLD)

CARRYING(MPI_Rget_accumulate,
         (const void *origin, int count, MPI_Datatype type, void *result, int result_count,
          MPI_Datatype result_type, int target, MPI_Aint place, int target_count,
          MPI_Datatype target_type, MPI_Op operation, MPI_Win window, MPI_Request *request),
         (origin, count, type, result, result_count, result_type, target, place, target_count,
          target_type, operation, window, request),
         OPERAND, RESULT, operation, origin, WITH_REQUEST, NO_HOLD)
