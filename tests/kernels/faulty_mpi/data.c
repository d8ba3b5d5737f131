/* What faults do to data: bits that change at once or later, and operations that are put off. */
#include "faulty.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* of an element's first byte: the sixteens of an integer; of its last: what no rounding hides */
#define LOW_BIT 0x10
#define HIGH_BIT 0x40
#define ELEMENT_BYTES 8
#define LATER_MOST 4

struct data data_of(const void *address, MPI_Aint count, MPI_Datatype type)
{
    int size = 0;
    if (address == NULL || address == MPI_IN_PLACE || count == 0) {
        return (struct data){0};
    }
    PMPI_Type_size(type, &size);
    return size == 0 ? (struct data){0} : (struct data){(void *)address, count, type, NULL};
}

struct data payload_of(const void *address, MPI_Aint count, MPI_Datatype type)
{
    const int is_told = type == MPI_BYTE || type == MPI_CHAR || type == MPI_INT ||
                        type == MPI_DOUBLE || type == MPI_AINT || type == MPI_LONG_LONG ||
                        type == MPI_UINT32_T || type == MPI_DATATYPE_NULL;
    return is_told ? (struct data){0} : data_of(address, count, type);
}

/* Where data begin and end, from their address on. */
static void span_of(struct data data, MPI_Aint *begin, MPI_Aint *end)
{
    MPI_Aint lower = 0, extent = 0, true_extent = 0;
    PMPI_Type_get_extent(data.type, &lower, &extent);
    PMPI_Type_get_true_extent(data.type, begin, &true_extent);
    *end = *begin + (data.count - 1) * extent + true_extent;
}

static void flip_element(unsigned char *element, MPI_Aint bytes)
{
    element[0] ^= LOW_BIT;
    if (bytes >= ELEMENT_BYTES) {
        element[ELEMENT_BYTES - 1] ^= HIGH_BIT;
    }
}

void flip(struct data data)
{
    MPI_Aint begin, end;
    span_of(data, &begin, &end);
    flip_element((unsigned char *)data.address + begin, end - begin);
}

void *flipped_copy(struct data data)
{
    MPI_Aint begin, end;
    span_of(data, &begin, &end);
    const size_t bytes = (size_t)(end - begin);
    unsigned char *copy = malloc(bytes);
    memcpy(copy, (unsigned char *)data.address + begin, bytes);
    if (bytes < ELEMENT_BYTES) {
        flip_element(copy, (MPI_Aint)bytes);
    } else {
        flip_element(copy + bytes - ELEMENT_BYTES, ELEMENT_BYTES);
    }
    return copy - begin;
}

/* ---- Later ---- */

static _Thread_local struct {
    struct data data;
    MPI_Request request; /* MPI_REQUEST_NULL: with the end of an epoch */
    int tells;           /* whether a swap was made; else a bit is changed */
} later[LATER_MOST];
static _Thread_local int later_count;

static void remember(struct data data, MPI_Request request, int tells)
{
    if (later_count < LATER_MOST) {
        later[later_count].data = data;
        later[later_count].request = request;
        later[later_count].tells = tells;
        later_count++;
    }
}

void flip_later(struct data data, const MPI_Request *request)
{
    remember(data, request == NULL ? MPI_REQUEST_NULL : *request, 0);
}

void tell_later(struct data result)
{
    remember(result, MPI_REQUEST_NULL, 1);
}

static void tell(struct data result)
{
    char line[64];
    int bytes = 0;
    PMPI_Type_size(result.type, &bytes);
    const int swapped = memcmp(result.address, result.compared, (size_t)bytes) == 0;
    report(line, (size_t)snprintf(line, sizeof line, "{\"type\":\"swap\",\"swapped\":%s}\n",
                                  swapped ? "true" : "false"));
}

void flip_result_of(MPI_Request request)
{
    int left = 0;
    for (int i = 0; i < later_count; i++) {
        if (later[i].request != request) {
            later[left++] = later[i];
        } else if (later[i].tells) {
            tell(later[i].data);
        } else {
            flip(later[i].data);
        }
    }
    later_count = left;
}

void flip_what_is_complete(void)
{
    flip_result_of(MPI_REQUEST_NULL);
}

/* ---- Put off ---- */

static _Thread_local struct {
    int is_there;
    int is_get;
    struct data origin;
    int target;
    MPI_Aint place;
    int count;
    MPI_Datatype type;
    MPI_Win window;
} held;

static void hold(int is_get, struct data origin, int target, MPI_Aint place, int count,
                 MPI_Datatype type, MPI_Win window)
{
    held.is_there = 1;
    held.is_get = is_get;
    held.origin = origin;
    held.target = target;
    held.place = place;
    held.count = count;
    held.window = window;
    /* the caller may free its types before the epoch ends */
    PMPI_Type_dup(origin.type, &held.origin.type);
    PMPI_Type_dup(type, &held.type);
}

void hold_put(struct data origin, int target, MPI_Aint place, int count, MPI_Datatype type,
              MPI_Win window)
{
    hold(0, origin, target, place, count, type, window);
}

void hold_get(struct data origin, int target, MPI_Aint place, int count, MPI_Datatype type,
              MPI_Win window)
{
    hold(1, origin, target, place, count, type, window);
}

void make_what_is_held(void)
{
    if (held.is_there) {
        const int count = (int)held.origin.count;
        held.is_there = 0;
        if (held.is_get) {
            PMPI_Get(held.origin.address, count, held.origin.type, held.target, held.place,
                     held.count, held.type, held.window);
        } else {
            PMPI_Put(held.origin.address, count, held.origin.type, held.target, held.place,
                     held.count, held.type, held.window);
        }
        PMPI_Type_free(&held.origin.type);
        PMPI_Type_free(&held.type);
    }
}

int complete_request(MPI_Request *request)
{
    return PMPI_Ibarrier(MPI_COMM_SELF, request);
}
