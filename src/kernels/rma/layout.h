/* Layouts: where the elements of a payload are in the target's window, and their datatypes. */
#ifndef ONESIDED_LAYOUT_H
#define ONESIDED_LAYOUT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* The places of elements in twice the room: each has a place, and a gap that no operation may
 * touch. */
struct layout {
    const char *name;
    size_t (*place)(size_t element, size_t elements);
    size_t (*gap)(size_t element, size_t elements);
};
extern const struct layout layouts[3];
/* Each element at any place, far from the element before. */
extern const struct layout layout_scattered;

bool is_contiguous(const struct layout *layout);

/* The arguments of a call, `count` of a type, for the same places as the layout's place(). */
struct layout_type {
    MPI_Datatype type;
    int count;
};
struct layout_type layout_make_type(const struct layout *layout, int elements);
void layout_free_type(struct layout_type *made);

#endif
