/* How a pointer in the window is read and written, with the calls of MPI-2 and of MPI-3. */
#include "dinan/linked_list/list.h"
#include "mpi/checked.h"

static void lock(const struct list *list, int type, int64_t element)
{
    CHECKED(MPI_Win_lock(type, rank_of(element), 0, list->window.handle));
}

static void unlock(const struct list *list, int64_t element)
{
    CHECKED(MPI_Win_unlock(rank_of(element), list->window.handle));
}

static void flush(const struct list *list, int64_t element)
{
    CHECKED(MPI_Win_flush(rank_of(element), list->window.handle));
}

/* ---- exclusive: put and get, as MPI-2 has them. ---- */

static int64_t read_exclusive(const struct list *list, int64_t element)
{
    int64_t next = NULL_POINTER;
    lock(list, MPI_LOCK_EXCLUSIVE, element);
    CHECKED(MPI_Get(&next, 1, MPI_INT64_T, rank_of(element), displacement_of(element), 1,
                    MPI_INT64_T, list->window.handle));
    unlock(list, element);
    return next;
}

static void write_exclusive(const struct list *list, int64_t element, int64_t next)
{
    lock(list, MPI_LOCK_EXCLUSIVE, element);
    CHECKED(MPI_Put(&next, 1, MPI_INT64_T, rank_of(element), displacement_of(element), 1,
                    MPI_INT64_T, list->window.handle));
    unlock(list, element);
}

/* ---- MPI-3: accumulates may access one place at the same time, so locks may be shared. ---- */

static void get_accumulate(const struct list *list, int64_t element, int64_t *next)
{
    CHECKED(MPI_Get_accumulate(NULL, 0, MPI_INT64_T, next, 1, MPI_INT64_T, rank_of(element),
                               displacement_of(element), 1, MPI_INT64_T, MPI_NO_OP,
                               list->window.handle));
}

static void accumulate(const struct list *list, int64_t element, const int64_t *next)
{
    CHECKED(MPI_Accumulate(next, 1, MPI_INT64_T, rank_of(element), displacement_of(element), 1,
                           MPI_INT64_T, MPI_REPLACE, list->window.handle));
}

static int64_t read_shared(const struct list *list, int64_t element)
{
    int64_t next = NULL_POINTER;
    lock(list, MPI_LOCK_SHARED, element);
    get_accumulate(list, element, &next);
    unlock(list, element);
    return next;
}

static void write_shared(const struct list *list, int64_t element, int64_t next)
{
    lock(list, MPI_LOCK_SHARED, element);
    accumulate(list, element, &next);
    unlock(list, element);
}

static int64_t read_lock_all(const struct list *list, int64_t element)
{
    int64_t next = NULL_POINTER;
    get_accumulate(list, element, &next);
    flush(list, element);
    return next;
}

static void write_lock_all(const struct list *list, int64_t element, int64_t next)
{
    accumulate(list, element, &next);
    flush(list, element);
}

/* The request of a read is complete when the value is here. The request of a write says nothing
 * about the target, so a flush follows. */
static int64_t read_request(const struct list *list, int64_t element)
{
    int64_t next = NULL_POINTER;
    MPI_Request request;
    CHECKED(MPI_Rget_accumulate(NULL, 0, MPI_INT64_T, &next, 1, MPI_INT64_T, rank_of(element),
                                displacement_of(element), 1, MPI_INT64_T, MPI_NO_OP,
                                list->window.handle, &request));
    CHECKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return next;
}

static void write_request(const struct list *list, int64_t element, int64_t next)
{
    MPI_Request request;
    CHECKED(MPI_Raccumulate(&next, 1, MPI_INT64_T, rank_of(element), displacement_of(element), 1,
                            MPI_INT64_T, MPI_REPLACE, list->window.handle, &request));
    CHECKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    flush(list, element);
}

/* ---- load_store: no call of MPI. ---- */

static struct element *element_at(const struct list *list, int64_t element)
{
    return (struct element *)(list->begins[rank_of(element)] + displacement_of(element));
}

static int64_t read_load(const struct list *list, int64_t element)
{
    return atomic_load_explicit(&element_at(list, element)->next, memory_order_acquire);
}

static void write_store(const struct list *list, int64_t element, int64_t next)
{
    atomic_store_explicit(&element_at(list, element)->next, next, memory_order_release);
}

const struct idiom idioms[] = {
    {.name = "exclusive", .read = read_exclusive, .write = write_exclusive, .backs_off = true},
    {.name = "shared", .read = read_shared, .write = write_shared},
    {.name = "lock_all", .read = read_lock_all, .write = write_lock_all, .in_lock_all = true},
    {.name = "request",
     .read = read_request,
     .write = write_request,
     .in_lock_all = true,
     .needs_a_call = true},
    {.name = "load_store",
     .read = read_load,
     .write = write_store,
     .in_lock_all = true,
     .is_shared = true},
};
