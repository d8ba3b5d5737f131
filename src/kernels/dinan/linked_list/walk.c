/* Verify a list element by element: is each at its place, with its value? */
#include <stdlib.h>
#include <string.h>

#include "dinan/linked_list/list.h"
#include "harness/memory.h"
#include "mpi/checked.h"
#include "mpi/world.h"

int64_t list_value(const struct list *list, long long place)
{
    return value_of_sample(list->burst, (size_t)place);
}

/* The head comes first, then each rank appends in turn, beginning with rank 1. */
long long list_place(const struct list *list, int rank, int index)
{
    return (long long)index * list->ranks + (rank == 0 ? list->ranks : rank);
}

/* All ranks: collect the pointers of the list in the expected order. */
static void gather_pointers(struct list *list, int appended)
{
    int64_t *all = allocate((size_t)list->ranks * (size_t)appended, sizeof all[0]);
    list->pointers[0] = list->own[list->capacity];
    CHECKED(MPI_Bcast(list->pointers, 1, MPI_INT64_T, TARGET, world_communicator));
    CHECKED(MPI_Allgather(list->own, appended, MPI_INT64_T, all, appended, MPI_INT64_T,
                          world_communicator));
    for (int rank = 0; rank < list->ranks; rank++) {
        for (int i = 0; i < appended; i++) {
            list->pointers[list_place(list, rank, i)] = all[rank * appended + i];
        }
    }
    free(all);
}

/* ---- Faults, for tests ---- */

/* If this rank has the element at a place of the list, change the element's next pointer. */
static void redirect(struct list *list, long long place, int64_t next)
{
    for (int i = 0; i <= list->capacity; i++) {
        if (list->own[i] == list->pointers[place]) {
            atomic_store(&list->elements[i].next, next);
        }
    }
}

static void alter_value(struct list *list, long long place)
{
    for (int i = 0; i <= list->capacity; i++) {
        if (list->own[i] == list->pointers[place]) {
            list->elements[i].value = ~list->elements[i].value;
        }
    }
}

/* All ranks: change the end of the list as if the last append was lost, was repeated, wrote only
 * half of the pointer, or came before the append before it. */
static void spoil(struct list *list, long long total)
{
    const char *asked = options_text(&list->launch->options, "fault");
    const int64_t *pointers = list->pointers;
    const int64_t last = pointers[total - 1], before = pointers[total - 2];
    if (asked == NULL) {
        return;
    }
    if (strcmp(asked, "altered_value") == 0) {
        alter_value(list, total - 1);
    } else if (strcmp(asked, "lost_append") == 0) {
        redirect(list, total - 2, NULL_POINTER);
    } else if (strcmp(asked, "repeated_append") == 0) {
        redirect(list, total - 2, before);
    } else if (strcmp(asked, "torn_pointer") == 0) {
        redirect(list, total - 2, (last & ~DISPLACEMENT_MASK) | (NULL_POINTER & DISPLACEMENT_MASK));
    } else {
        redirect(list, total - 3, last);
        redirect(list, total - 1, before);
        redirect(list, total - 2, NULL_POINTER);
    }
}

/* ---- The walk ---- */

/* A pointer that points to no element of the list is not followed: nothing may be there. */
static bool is_of_list(const struct list *list, int64_t pointer, long long total)
{
    for (long long place = 0; place < total; place++) {
        if (list->pointers[place] == pointer) {
            return true;
        }
    }
    return false;
}

static void walk(struct list *list, long long total)
{
    int64_t at = list->pointers[0];
    for (long long place = 0; place < total; place++) {
        int64_t value;
        verify_element(&list->order, at, list->pointers[place], (size_t)place, list->burst);
        if (at != list->pointers[place] && !is_of_list(list, at, total)) {
            return;
        }
        list_get(list, at, &at, &value);
        verify_element(&list->values, value, list_value(list, place), (size_t)place, list->burst);
    }
    verify_element(&list->order, at, NULL_POINTER, (size_t)total, list->burst);
}

void list_walk(struct list *list, int appended)
{
    const long long total = (long long)appended * list->ranks + 1;
    gather_pointers(list, appended);
    window_begin_own(&list->window, MPI_LOCK_SHARED);
    spoil(list, total);
    window_end_own(&list->window);
    CHECKED(MPI_Barrier(world_communicator));
    if (list->rank == list->ranks - 1) {
        walk(list, total);
    }
}
