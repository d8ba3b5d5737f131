/* The ten calls that access a window. */
#include "data/conformance/call.h"

#include "mpi/checked.h"

#define ORIGIN a->origin, a->origin_count, a->origin_type
#define RESULT a->result, a->result_count, a->result_type
#define TARGET a->target, a->displacement, a->target_count, a->target_type

static void put(const struct arguments *a)
{
    CHECKED(MPI_Put(ORIGIN, TARGET, a->window));
}

static void get(const struct arguments *a)
{
    CHECKED(MPI_Get(RESULT, TARGET, a->window));
}

static void accumulate(const struct arguments *a)
{
    CHECKED(MPI_Accumulate(ORIGIN, TARGET, a->reduction, a->window));
}

static void get_accumulate(const struct arguments *a)
{
    CHECKED(MPI_Get_accumulate(ORIGIN, RESULT, TARGET, a->reduction, a->window));
}

static void fetch_and_op(const struct arguments *a)
{
    CHECKED(MPI_Fetch_and_op(a->origin, a->result, a->element, a->target, a->displacement,
                             a->reduction, a->window));
}

static void compare_and_swap(const struct arguments *a)
{
    CHECKED(MPI_Compare_and_swap(a->origin, a->compare, a->result, a->element, a->target,
                                 a->displacement, a->window));
}

static void rput(const struct arguments *a)
{
    CHECKED(MPI_Rput(ORIGIN, TARGET, a->window, a->request));
}

static void rget(const struct arguments *a)
{
    CHECKED(MPI_Rget(RESULT, TARGET, a->window, a->request));
}

static void raccumulate(const struct arguments *a)
{
    CHECKED(MPI_Raccumulate(ORIGIN, TARGET, a->reduction, a->window, a->request));
}

static void rget_accumulate(const struct arguments *a)
{
    CHECKED(MPI_Rget_accumulate(ORIGIN, RESULT, TARGET, a->reduction, a->window, a->request));
}

#define SENDS .sends = true
#define FETCHES .fetches = true
#define REDUCES .reduces = true, .is_atomic = true
#define SINGLE .is_single = true, .is_atomic = true
#define REQUEST .has_request = true

const struct call calls[] = {
    {.name = "put", .make = put, SENDS},
    {.name = "get", .make = get, FETCHES},
    {.name = "accumulate", .make = accumulate, SENDS, REDUCES},
    {.name = "get_accumulate", .make = get_accumulate, SENDS, FETCHES, REDUCES},
    {.name = "fetch_and_op", .make = fetch_and_op, SENDS, FETCHES, .reduces = true, SINGLE},
    {.name = "compare_and_swap",
     .make = compare_and_swap,
     SENDS,
     FETCHES,
     SINGLE,
     .compares = true},
    {.name = "rput", .make = rput, SENDS, REQUEST},
    {.name = "rget", .make = rget, FETCHES, REQUEST},
    {.name = "raccumulate", .make = raccumulate, SENDS, REDUCES, REQUEST},
    {.name = "rget_accumulate", .make = rget_accumulate, SENDS, FETCHES, REDUCES, REQUEST},
};
