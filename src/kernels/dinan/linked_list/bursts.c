/* The pointers before a burst, and the comparison of the pointers that the burst read or wrote. */
#include "dinan/linked_list/list.h"
#include "mpi/checked.h"
#include "mpi/world.h"

void list_make_head(struct list *list, int burst)
{
    (void)burst;
    if (list->rank == TARGET) {
        list->pointers[0] = list_create(list, list->capacity, NULL_POINTER, list_value(list, 0));
    }
    CHECKED(MPI_Bcast(list->pointers, 1, MPI_INT64_T, TARGET, world_communicator));
}

static void make_elements(struct list *list, int burst, bool are_read)
{
    for (int i = 0; i < burst && list->rank == TARGET; i++) {
        const int64_t next = are_read ? list_value(list, i) : NULL_POINTER;
        list->pointers[i] = list_create(list, i, next, 0);
    }
    CHECKED(MPI_Bcast(list->pointers, burst, MPI_INT64_T, TARGET, world_communicator));
}

void list_make_read(struct list *list, int burst)
{
    make_elements(list, burst, true);
    for (int i = 0; i < burst; i++) {
        list->results[i] = NULL_POINTER;
    }
}

void list_make_written(struct list *list, int burst)
{
    make_elements(list, burst, false);
}

void list_check_read(struct list *list, int burst)
{
    for (int i = 0; i < burst && list->rank == list->ranks - 1; i++) {
        verify_element(&list->values, list->results[i], list_value(list, i), (size_t)i,
                       list->burst);
    }
}

void list_check_written(struct list *list, int burst)
{
    window_begin_own(&list->window, MPI_LOCK_SHARED);
    for (int i = 0; i < burst && list->rank == TARGET; i++) {
        const int64_t found = atomic_load(&list->elements[i].next);
        verify_element(&list->values, found, list_value(list, i), (size_t)i, list->burst);
    }
    window_end_own(&list->window);
}
