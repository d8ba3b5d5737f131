/* The ten calls that access a window. */
#ifndef ONESIDED_CONFORMANCE_CALL_H
#define ONESIDED_CONFORMANCE_CALL_H

#include "data/conformance/plan.h"

/* The arguments of an operation's call. */
struct arguments {
    const void *origin;
    void *result;
    const void *compare;
    int origin_count, result_count;
    MPI_Datatype origin_type, result_type;
    int target;
    MPI_Aint displacement;
    int target_count;
    MPI_Datatype target_type;
    MPI_Datatype element;
    MPI_Op reduction;
    MPI_Win window;
    MPI_Request *request;
};

struct call {
    const char *name;
    void (*make)(const struct arguments *arguments);
    bool fetches;   /* leaves data at the origin */
    bool sends;     /* takes data from the origin */
    bool reduces;   /* has an operator */
    bool is_atomic; /* its operations may access one place at the same time */
    bool is_single; /* accesses a single predefined element */
    bool compares;
    bool has_request;
};
enum { CALLS = 10 };
extern const struct call calls[CALLS];

#endif
