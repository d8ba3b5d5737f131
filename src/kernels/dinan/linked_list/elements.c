/* The elements of a list in its window: made, read as a whole, and removed. */
#include <stddef.h>
#include <stdlib.h>

#include "dinan/linked_list/list.h"
#include "harness/memory.h"
#include "harness/world.h"
#include "mpi/checked.h"

static bool has_to_attach(const struct list *list, bool each)
{
    return !list->idiom->is_shared && list->attaches_each == each;
}

static MPI_Aint bytes_of(const struct list *list)
{
    return (MPI_Aint)(list->capacity + 1) * (MPI_Aint)sizeof(struct element);
}

/* Find the address of each rank's part of a shared window in this rank's memory. */
static void find_parts(struct list *list)
{
    list->begins = allocate((size_t)list->ranks, sizeof list->begins[0]);
    for (int rank = 0; rank < list->ranks; rank++) {
        MPI_Aint size_bytes;
        int unit;
        CHECKED(MPI_Win_shared_query(list->window.handle, rank, &size_bytes, &unit,
                                     &list->begins[rank]));
    }
    list->elements = list->window.memory;
}

/* The displacement of an element at its rank; in a dynamic window this is its address. */
static MPI_Aint place_of(const struct list *list, const struct element *element)
{
    MPI_Aint place = (const char *)element - (const char *)list->elements;
    if (!list->idiom->is_shared) {
        CHECKED(MPI_Get_address(element, &place));
    }
    return place;
}

/* All ranks: do rank and displacement fit in a pointer? The last displacement decides. */
static bool do_pointers_fit(const struct list *list)
{
    const MPI_Aint last = place_of(list, list->elements + list->capacity);
    const bool fits = last >= 0 && last <= DISPLACEMENT_MASK && list->ranks <= RANKS_MAX;
    const bool all_fit = world_greatest(!fits) == 0;
    if (!all_fit) {
        record_status(list->record, CELL_UNSUPPORTED,
                      "a pointer has 16 bits for the rank and %d for the displacement: found %d "
                      "ranks and longer displacements",
                      RANK_SHIFT, list->ranks);
    }
    return all_fit;
}

bool list_open(struct list *list)
{
    const bool is_shared = list->idiom->is_shared;
    const struct flavor *flavor = &flavors[is_shared ? FLAVOR_SHARED : FLAVOR_DYNAMIC];
    if (!window_is_supported(list->launch, flavor, list->record)) {
        return false;
    }
    list->window = window_open(list->launch, flavor, is_shared ? bytes_of(list) : 0);
    record_window(list->record, list->window.handle, flavor->name, bytes_of(list));
    if (is_shared) {
        find_parts(list);
    } else {
        list->elements = allocate_pages((size_t)bytes_of(list));
    }
    if (has_to_attach(list, false)) {
        CHECKED(MPI_Win_attach(list->window.handle, list->elements, bytes_of(list)));
    }
    list->own = allocate((size_t)list->capacity + 1, sizeof list->own[0]);
    for (int i = 0; i <= list->capacity; i++) {
        list->own[i] = NULL_POINTER;
    }
    if (list->idiom->in_lock_all) {
        window_hold(&list->window);
    }
    if (do_pointers_fit(list)) {
        return true;
    }
    list_close(list);
    return false;
}

void list_close(struct list *list)
{
    window_release(&list->window);
    if (has_to_attach(list, false)) {
        CHECKED(MPI_Win_detach(list->window.handle, list->elements));
    }
    window_close(&list->window);
    if (!list->idiom->is_shared) {
        free(list->elements);
    }
    free(list->begins);
    free(list->own);
}

int64_t list_create(struct list *list, int index, int64_t next, int64_t value)
{
    struct element *element = &list->elements[index];
    if (has_to_attach(list, true)) {
        CHECKED(MPI_Win_attach(list->window.handle, element, sizeof *element));
    }
    /* no other rank can access the element yet, so the lock may be shared */
    window_begin_own(&list->window, MPI_LOCK_SHARED);
    atomic_store_explicit(&element->next, next, memory_order_relaxed);
    element->value = value;
    window_end_own(&list->window);
    list->own[index] = (int64_t)list->rank << RANK_SHIFT | place_of(list, element);
    return list->own[index];
}

void list_destroy(struct list *list)
{
    for (int i = 0; i <= list->capacity; i++) {
        if (list->own[i] != NULL_POINTER && has_to_attach(list, true)) {
            CHECKED(MPI_Win_detach(list->window.handle, &list->elements[i]));
        }
        list->own[i] = NULL_POINTER;
    }
}

void list_get(const struct list *list, int64_t pointer, int64_t *next, int64_t *value)
{
    int64_t words[2] = {NULL_POINTER, 0};
    const int rank = rank_of(pointer);
    if (!list->window.is_locked) {
        CHECKED(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, list->window.handle));
    }
    CHECKED(MPI_Get(words, 2, MPI_INT64_T, rank, displacement_of(pointer), 2, MPI_INT64_T,
                    list->window.handle));
    if (list->window.is_locked) {
        CHECKED(MPI_Win_flush(rank, list->window.handle));
    } else {
        CHECKED(MPI_Win_unlock(rank, list->window.handle));
    }
    *next = words[0];
    *value = words[1];
}
