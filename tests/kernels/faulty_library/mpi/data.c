/* Effects of faults on data: bits change at once or later, and operations are delayed. */
#include "faulty.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* in an element's first byte: an integer's sixteens; in its last: a bit that no rounding hides */
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

/* The begin and end of data, from their address on. */
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

/* In sent data, the last element changes; in results, the first one, or this one. */
static int is_last_flipped;

static void flip_last(unsigned char *bytes, MPI_Aint count)
{
    const MPI_Aint before = count < ELEMENT_BYTES ? 0 : count - ELEMENT_BYTES;
    flip_element(bytes + before, count - before);
}

void flip(struct data data)
{
    MPI_Aint begin, end;
    span_of(data, &begin, &end);
    unsigned char *const bytes = (unsigned char *)data.address + begin;
    /* packed data may need less than the room */
    if (is_last_flipped && data.type != MPI_PACKED) {
        flip_last(bytes, end - begin);
    } else {
        flip_element(bytes, end - begin);
    }
}

/* A copy of the data at the same addresses from its own on. */
static unsigned char *copy_of(struct data data, MPI_Aint *begin, MPI_Aint *end)
{
    span_of(data, begin, end);
    const size_t bytes = (size_t)(*end - *begin);
    return (unsigned char *)memcpy(malloc(bytes), (unsigned char *)data.address + *begin, bytes) -
           *begin;
}

void *flipped_copy(struct data data)
{
    MPI_Aint begin, end;
    unsigned char *copy = copy_of(data, &begin, &end);
    flip_last(copy + begin, end - begin);
    return copy;
}

void *blank_copy(struct data data)
{
    MPI_Aint begin, end;
    span_of(data, &begin, &end);
    return (char *)calloc((size_t)(end - begin), 1) - begin;
}

/* ---- Later ---- */

enum late { FLIPS, TELLS, IS_PUT_BACK };

static _Thread_local struct later {
    struct data data;
    MPI_Request request; /* MPI_REQUEST_NULL: with the end of an epoch */
    enum late what;
    struct old old;
} later[LATER_MOST];
static _Thread_local int later_count;

static void remember(struct data data, const MPI_Request *request, enum late what, struct old old)
{
    if (later_count < LATER_MOST) {
        later[later_count++] =
            (struct later){data, request == NULL ? MPI_REQUEST_NULL : *request, what, old};
    }
}

void flip_later(struct data data, const MPI_Request *request)
{
    remember(data, request, FLIPS, (struct old){0});
}

void put_back_later(struct data result, const MPI_Request *request, const struct old *old)
{
    remember(result, request, IS_PUT_BACK, *old);
}

void tell_later(const struct carried *carried, int is_repeated)
{
    struct data result = carried->got;
    if (is_repeated) {
        result.compared = carried->sent.address;
    }
    remember(result, NULL, TELLS, (struct old){0});
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

static void make_late(const struct later *one)
{
    switch (one->what) {
    case FLIPS:
        flip(one->data);
        break;
    case TELLS:
        tell(one->data);
        break;
    case IS_PUT_BACK:
        put_back(one->data, &one->old);
    }
}

void flip_result_of(MPI_Request request)
{
    int left = 0;
    for (int i = 0; i < later_count; i++) {
        if (later[i].request != request) {
            later[left++] = later[i];
        } else {
            make_late(&later[i]);
        }
    }
    later_count = left;
}

void flip_what_is_complete(void)
{
    flip_result_of(MPI_REQUEST_NULL);
}

/* ---- Old content ---- */

static MPI_Aint bytes_of(struct data data)
{
    int size = 0;
    if (data.address == NULL) {
        return 0;
    }
    PMPI_Type_size(data.type, &size);
    return data.count * size;
}

struct data data_before(struct before *before, struct data data)
{
    const MPI_Aint bytes = bytes_of(data);
    struct data found = {0};
    if (before->cell == cells_begun && before->bytes == bytes &&
        before->data.address != data.address) {
        found = before->data;
    }
    *before = (struct before){data, bytes, cells_begun};
    return found;
}

const void *sent_before(struct sent *before, struct data data, enum fault asked)
{
    const MPI_Aint bytes = bytes_of(data);
    const int is_alike = before->cell == cells_begun && before->bytes == bytes;
    const void *found = NULL;
    if (bytes == 0 || !may_be_stale()) {
        return NULL;
    }
    if (is_alike && asked == STALE) {
        found = before->copy; /* never freed: the call may be under way for long */
    } else if (before->copy != NULL) {
        free(before->copy + before->begin);
    }
    *before = (struct sent){.bytes = bytes, .cell = cells_begun};
    MPI_Aint end;
    before->copy = copy_of(data, &before->begin, &end);
    return found;
}

static void pack(struct data data, struct old *old)
{
    int size = 0;
    PMPI_Pack_size((int)data.count, data.type, MPI_COMM_SELF, &size);
    old->packed = malloc((size_t)size);
    PMPI_Pack(data.address, (int)data.count, data.type, old->packed, size, &old->packed_bytes,
              MPI_COMM_SELF);
}

enum fault fault_of_data(enum fault asked, const struct carried *carried, const void *stale_sent,
                         struct old *old)
{
    const int gets = carried->got.address != NULL;
    const int is_old = asked == LOSE || (asked == STALE && old->stale.address == NULL);
    if (asked == ALTER) {
        is_last_flipped = 1;
        return gets ? WRONG_RESULT : CORRUPT_TARGET;
    }
    if (is_old && !carried->is_message && (asked == LOSE || stale_sent == NULL)) {
        return DROP;
    }
    if (is_old && carried->is_message && !gets) {
        return BLANK;
    }
    if (is_old && gets) {
        old->stale = (struct data){0};
        pack(carried->got, old);
    }
    return asked == LOSE ? STALE : asked;
}

void put_back(struct data result, const struct old *old)
{
    struct old kept = *old; /* stale data may overlap the result */
    int position = 0;
    if (old->stale.address != NULL) {
        pack(old->stale, &kept);
    }
    if (kept.packed != NULL) {
        PMPI_Unpack(kept.packed, kept.packed_bytes, &position, result.address, (int)result.count,
                    result.type, MPI_COMM_SELF);
        free(kept.packed);
    }
}

/* ---- Delayed ---- */

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

/* ---- Arrivals ---- */

static const char *name_of(MPI_Op operation)
{
    return operation == MPI_OP_NULL   ? "none"
           : operation == MPI_SUM     ? "MPI_SUM"
           : operation == MPI_REPLACE ? "MPI_REPLACE"
           : operation == MPI_NO_OP   ? "MPI_NO_OP"
                                      : "other";
}

/* Data of messages are payload when they arrive. Data of window operations are not, if they tell
 * another rank that data are there, or look for this. */
static int is_payload(const struct carried *carried, int sends, int gets)
{
    const int is_word = carried->operation == MPI_REPLACE || carried->operation == MPI_NO_OP;
    return carried->is_message == 1 ? gets : (sends || gets) && !is_word;
}

/* As in a program that did not ask for returned errors. */
static void meet_fatal_error(void)
{
    const int number = 0;
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    PMPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_SELF); /* which has one rank, 0 */
}

enum fault arrive_in_mpi(struct call *call, const struct carried *carried)
{
    struct facts facts = {.operation = "none", .is_last = strcmp(call->name, "MPI_Finalize") == 0};
    if (carried != NULL) {
        facts.sends = carried->sent.address != NULL;
        facts.gets = carried->got.address != NULL;
        facts.operation = name_of(carried->operation);
        facts.is_payload = is_payload(carried, facts.sends, facts.gets);
    }
    if (strcmp(call->name, "MPI_Put") != 0 && strcmp(call->name, "MPI_Get") != 0) {
        make_what_is_held();
    }
    const enum fault fault = arrive(call, &facts);
    if (fault != NO_FAULT && carried != NULL && carried->got.compared != NULL) {
        tell_later(carried, fault == DUPLICATE);
    }
    if (fault == FATAL) {
        meet_fatal_error();
    }
    return fault;
}
