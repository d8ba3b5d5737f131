/* Units of the kernel conformance: its model, which works without MPI, is compared with an MPI: the
 * places of a datatype's elements, and the result of an operator on two values. Ends with the first
 * check that fails.
 *
 *   conformance_units <first seed> <last seed> */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/conformance/shape.h"
#include "rma/element.h"

#define ITEMS 3
#define ROOM 65536 /* bytes, with displacement 0 in the middle */
#define UNTOUCHED 0xEE
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true of %s: %s\n", __FILE__, __LINE__, subject,            \
                    #condition);                                                                   \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)

static char subject[128]; /* the checked subject */

/* ---- Typemaps ---- */

static MPI_Aint at(const struct typemap *map, size_t number)
{
    return ROOM / 2 + map->at[number % map->elements] +
           (MPI_Aint)(number / map->elements) * map->extent;
}

static void the_bounds_are_those_of_mpi(const struct typemap *map, const struct element *element,
                                        MPI_Datatype type)
{
    MPI_Aint lower, extent, lowest, bytes, lowest_of_one, bytes_of_one;
    int size, size_of_one;
    MPI_Type_get_extent(type, &lower, &extent);
    MUST(map->lower == lower);
    MUST(map->extent == extent);
    MPI_Type_size(type, &size);
    MPI_Type_size(element->handle, &size_of_one);
    MUST(size == (int)map->elements * size_of_one);
    if (map->elements == 0) {
        return;
    }
    MPI_Type_get_true_extent(type, &lowest, &bytes);
    MPI_Type_get_true_extent(element->handle, &lowest_of_one, &bytes_of_one);
    MUST(lowest_of_one == 0);
    MUST(map->lowest == lowest);
    /* MPI leaves out the gap at the end of the last element */
    MUST(map->highest == lowest + bytes + (MPI_Aint)element->bytes - bytes_of_one);
}

static void no_two_elements_meet(const struct typemap *map, const struct element *element)
{
    static unsigned char taken[ROOM];
    memset(taken, 0, sizeof taken);
    for (size_t i = 0; i < ITEMS * map->elements; i++) {
        for (size_t byte = 0; byte < element->bytes; byte++) {
            MUST(taken[at(map, i) + (MPI_Aint)byte]++ == 0);
        }
    }
}

static void number_elements(unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (unsigned char)mixed(i, 7);
    }
}

/* MPI packs numbered elements from their places, and unpacks them to their places. */
static void the_elements_are_where_mpi_finds_them(const struct typemap *map,
                                                  const struct element *element, MPI_Datatype type)
{
    static unsigned char numbered[ROOM], placed[ROOM], found[ROOM], packed[ROOM];
    const size_t count = ITEMS * map->elements, bytes = element->bytes;
    int position = 0;
    number_elements(numbered, count * bytes);
    memset(placed, UNTOUCHED, sizeof placed);
    for (size_t i = 0; i < count; i++) {
        memcpy(placed + at(map, i), numbered + i * bytes, bytes);
    }
    MPI_Pack(placed + ROOM / 2, ITEMS, type, packed, ROOM, &position, MPI_COMM_SELF);
    position = 0;
    MPI_Unpack(packed, ROOM, &position, found, (int)count, element->handle, MPI_COMM_SELF);
    for (size_t i = 0; i < count; i++) {
        MUST(is_same(element, found + i * bytes, numbered + i * bytes));
    }
    position = 0;
    memset(found, UNTOUCHED, sizeof found);
    MPI_Unpack(packed, ROOM, &position, found + ROOM / 2, ITEMS, type, MPI_COMM_SELF);
    for (size_t i = 0; i < count; i++) {
        MUST(is_same(element, found + at(map, i), placed + at(map, i)));
        memcpy(found + at(map, i), placed + at(map, i), bytes);
    }
    MUST(memcmp(found, placed, sizeof placed) == 0);
}

static void the_model_and_mpi_agree(const struct shape *shape, const struct element *element)
{
    MPI_Datatype type = datatype_of(shape, element);
    struct typemap map = typemap_of(shape, element);
    MUST(map.elements <= 64);
    MUST(2 * ITEMS * (labs(map.extent) + labs(map.lower)) < ROOM / 2);
    the_bounds_are_those_of_mpi(&map, element, type);
    if (map.elements > 0) {
        no_two_elements_meet(&map, element);
        the_elements_are_where_mpi_finds_them(&map, element, type);
    }
    MPI_Type_free(&type);
    free(map.at);
}

static void each_layout_is_where_the_model_says(void)
{
    for (int layout = 0; layout < LAYOUTS; layout++) {
        for (int element = 0; layouts[layout].shape != NULL && element < ELEMENTS; element++) {
            snprintf(subject, sizeof subject, "layout %s of %s", layouts[layout].name,
                     elements[element].name);
            the_model_and_mpi_agree(layouts[layout].shape, &elements[element]);
        }
    }
}

/* Each kind of node, and each number of nodes up to many, is drawn by some seed. */
static void each_drawn_tree_is_where_the_model_says(int first, int last)
{
    static struct drawn drawn, again;
    unsigned kinds = 0;
    int most = 0;
    for (int seed = first; seed <= last; seed++) {
        const struct shape *shape = shape_draw(&drawn, (uint64_t)seed);
        shape_draw(&again, (uint64_t)seed);
        snprintf(subject, sizeof subject, "seed %d", seed);
        MUST(drawn.used == again.used && drawn.used <= NODES_MAX);
        most = drawn.used > most ? drawn.used : most;
        for (int node = 0; node < drawn.used; node++) {
            kinds |= 1u << drawn.nodes[node].constructor;
            MUST(drawn.nodes[node].constructor == again.nodes[node].constructor);
        }
        for (int element = 0; element < ELEMENTS; element++) {
            snprintf(subject, sizeof subject, "seed %d of %s", seed, elements[element].name);
            the_model_and_mpi_agree(shape, &elements[element]);
            struct typemap map = typemap_of(shape, &elements[element]);
            MUST(map.elements >= 1);
            free(map.at);
        }
    }
    snprintf(subject, sizeof subject, "seeds %d to %d", first, last);
    MUST(last - first < 30 || most > 6);
    /* no drawn tree has a subarray */
    MUST(last - first < 30 || kinds == ((1u << (DUP + 1)) - 1 - (1u << SUBARRAY)));
}

/* ---- Operators ---- */

static void an_operator_makes_what_mpi_makes(const struct element *element,
                                             const struct reduction *reduction)
{
    static const int numbers[][2] = {{0, 0}, {0, 1},  {1, 0},   {3, 5}, {5, 3},
                                     {7, 7}, {9, 12}, {64, 40}, {2, 4}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        unsigned char made[ELEMENT_BYTES_MAX] = {0}, by_mpi[ELEMENT_BYTES_MAX] = {0};
        unsigned char sent[ELEMENT_BYTES_MAX] = {0};
        const bool is_much = reduction->operation == PROD && numbers[i][0] > 9;
        element->set(made, is_much ? 11 : numbers[i][0], 1);
        element->set(sent, is_much ? 11 : numbers[i][1], 2);
        memcpy(by_mpi, made, sizeof made);
        element->apply(reduction->operation, made, sent);
        MPI_Reduce_local(sent, by_mpi, 1, element->handle, reduction->handle);
        snprintf(subject, sizeof subject, "%s of %s, numbers %d and %d", reduction->name,
                 element->name, numbers[i][0], numbers[i][1]);
        MUST(is_same(element, made, by_mpi));
    }
}

/* An MPI itself may be wrong about pairs with gaps: these are the rules of MPI 4.1, 6.9.4. */
static void a_pair_is_taken_by_its_value_then_by_its_index(const struct element *element)
{
    static const struct {
        enum operator_kind operation;
        int target[2], origin[2];
        bool takes_the_origins;
    } rows[] = {
        {MAXLOC, {5, 3}, {6, 4}, true},  {MAXLOC, {5, 3}, {4, 2}, false},
        {MAXLOC, {5, 3}, {5, 2}, true},  {MAXLOC, {5, 3}, {5, 4}, false},
        {MINLOC, {5, 3}, {6, 2}, false}, {MINLOC, {5, 3}, {4, 4}, true},
        {MINLOC, {5, 3}, {5, 2}, true},  {MINLOC, {5, 3}, {5, 4}, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned char made[ELEMENT_BYTES_MAX] = {0}, sent[ELEMENT_BYTES_MAX] = {0};
        unsigned char expected[ELEMENT_BYTES_MAX] = {0};
        const int *taken = rows[i].takes_the_origins ? rows[i].origin : rows[i].target;
        element->set(made, rows[i].target[0], rows[i].target[1]);
        element->set(sent, rows[i].origin[0], rows[i].origin[1]);
        element->set(expected, taken[0], taken[1]);
        element->apply(rows[i].operation, made, sent);
        snprintf(subject, sizeof subject, "row %zu of %s", i, element->name);
        MUST(is_same(element, made, expected));
    }
}

static void each_operator_makes_what_mpi_makes(void)
{
    for (int i = 0; i < ELEMENTS; i++) {
        const struct element *element = &elements[i];
        const bool has_gap = element->gap_begin != element->gap_end;
        const bool is_pair = is_allowed(element, MAXLOC);
        for (int operation = 0; operation < REPLACE; operation++) {
            if (is_allowed(element, operation) && !(is_pair && has_gap)) {
                an_operator_makes_what_mpi_makes(element, &reductions[operation]);
            }
        }
        if (is_pair) {
            a_pair_is_taken_by_its_value_then_by_its_index(element);
        }
    }
}

static void an_element_is_as_long_as_mpi_says(void)
{
    for (int i = 0; i < ELEMENTS; i++) {
        MPI_Aint lower, extent;
        snprintf(subject, sizeof subject, "element %s", elements[i].name);
        MPI_Type_get_extent(elements[i].handle, &lower, &extent);
        MUST(lower == 0 && extent == (MPI_Aint)elements[i].bytes);
        MUST(extent <= ELEMENT_BYTES_MAX);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    snprintf(subject, sizeof subject, "the command line");
    MUST(argc == 3);
    an_element_is_as_long_as_mpi_says();
    each_layout_is_where_the_model_says();
    each_drawn_tree_is_where_the_model_says(atoi(argv[1]), atoi(argv[2]));
    each_operator_makes_what_mpi_makes();
    MPI_Finalize();
    return EXIT_SUCCESS;
}
