/* Layouts: where in the target's window the elements of a payload are. */
#include "rma/layout.h"

#include <stdint.h>
#include <stdlib.h>

#include "harness/memory.h"
#include "mpi/checked.h"

static size_t same_place(size_t element, size_t elements)
{
    (void)elements;
    return element;
}

static size_t place_behind(size_t element, size_t elements)
{
    return elements + element;
}

static size_t even_place(size_t element, size_t elements)
{
    (void)elements;
    return 2 * element;
}

static size_t odd_place(size_t element, size_t elements)
{
    (void)elements;
    return 2 * element + 1;
}

/* The first or the second of each pair, without a period. */
static size_t irregular(size_t element)
{
    return (size_t)((element + 1) * 0x9E3779B97F4A7C15u >> 63);
}

static size_t irregular_place(size_t element, size_t elements)
{
    (void)elements;
    return 2 * element + irregular(element);
}

static size_t irregular_gap(size_t element, size_t elements)
{
    (void)elements;
    return 2 * element + 1 - irregular(element);
}

/* A prime above all numbers of elements, so its multiples have each remainder once. */
#define PRIME UINT64_C(2654435761)

static size_t scattered_place(size_t element, size_t elements)
{
    return irregular_place(element * PRIME % elements, elements);
}

static size_t scattered_gap(size_t element, size_t elements)
{
    return irregular_gap(element * PRIME % elements, elements);
}

const struct layout layout_scattered = {"scattered", scattered_place, scattered_gap};

const struct layout layouts[] = {
    {"contiguous", same_place, place_behind},
    {"vector", even_place, odd_place},
    {"indexed", irregular_place, irregular_gap},
};

bool is_contiguous(const struct layout *layout)
{
    return layout->place == same_place;
}

/* The layout `vector` is a vector type; the others are indexed types of their places. */
struct layout_type layout_make_type(const struct layout *layout, int elements)
{
    struct layout_type made = {.type = MPI_INT64_T, .count = elements};
    if (is_contiguous(layout)) {
        return made;
    }
    made.count = 1;
    if (layout->place == even_place) {
        CHECKED(MPI_Type_vector(elements, 1, 2, MPI_INT64_T, &made.type));
    } else {
        int *places = allocate((size_t)elements, sizeof places[0]);
        for (int i = 0; i < elements; i++) {
            places[i] = (int)layout->place((size_t)i, (size_t)elements);
        }
        CHECKED(MPI_Type_create_indexed_block(elements, 1, places, MPI_INT64_T, &made.type));
        free(places);
    }
    CHECKED(MPI_Type_commit(&made.type));
    return made;
}

void layout_free_type(struct layout_type *made)
{
    if (made->type != MPI_INT64_T) {
        CHECKED(MPI_Type_free(&made->type));
    }
}
