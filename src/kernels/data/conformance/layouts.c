/* The layouts of an axis: an item has six elements, except in `plain`, `empty` and `drawn`. */
#include <stddef.h>

#include "data/conformance/shape.h"

static const struct shape one = {.constructor = ELEMENT};

#define OF_ONE .children = {&one}

static const struct shape contiguous = {.constructor = CONTIGUOUS, .count = 6, OF_ONE};
static const struct shape empty = {.constructor = CONTIGUOUS, .count = 0, OF_ONE};
static const struct shape vector = {
    .constructor = VECTOR, .count = 3, .lengths = {2}, .displacements = {4}, OF_ONE};
static const struct shape backwards = {
    .constructor = VECTOR, .count = 3, .lengths = {2}, .displacements = {-3}, OF_ONE};
static const struct shape hvector = {
    .constructor = HVECTOR, .count = 6, .lengths = {1}, .displacements = {2}, OF_ONE};
static const struct shape indexed = {
    .constructor = INDEXED, .count = 3, .lengths = {1, 2, 3}, .displacements = {9, 0, 4}, OF_ONE};
static const struct shape hindexed = {
    .constructor = HINDEXED, .count = 3, .lengths = {3, 1, 2}, .displacements = {0, 4, 9}, OF_ONE};
static const struct shape indexed_block = {
    .constructor = INDEXED_BLOCK, .count = 3, .lengths = {2}, .displacements = {7, 0, 3}, OF_ONE};
static const struct shape hindexed_block = {
    .constructor = HINDEXED_BLOCK, .count = 2, .lengths = {3}, .displacements = {1, 6}, OF_ONE};
static const struct shape structure = {.constructor = STRUCT,
                                       .count = 3,
                                       .lengths = {1, 2, 3},
                                       .displacements = {0, 2, 5},
                                       .children = {&one, &one, &one}};
static const struct shape negative = {.constructor = HINDEXED,
                                      .count = 3,
                                      .lengths = {2, 2, 2},
                                      .displacements = {-5, -2, 3},
                                      OF_ONE};
static const struct shape resized = {
    .constructor = RESIZED, .displacements = {-1, 13}, .children = {&vector}};
static const struct shape subarray = {
    .constructor = SUBARRAY, .count = 3, .lengths = {2, 4}, .displacements = {1, 1}, OF_ONE};
static const struct shape duplicate = {.constructor = DUP, .children = {&indexed}};
static const struct shape pair = {
    .constructor = VECTOR, .count = 2, .lengths = {1}, .displacements = {2}, OF_ONE};
static const struct shape nested = {.constructor = STRUCT,
                                    .count = 3,
                                    .lengths = {1, 1, 2},
                                    .displacements = {0, 4, 9},
                                    .children = {&pair, &pair, &one}};

const struct layout layouts[] = {
    {.name = "plain", .shape = &one},
    {.name = "contiguous", .shape = &contiguous},
    {.name = "vector", .shape = &vector},
    {.name = "backwards", .shape = &backwards},
    {.name = "hvector", .shape = &hvector},
    {.name = "indexed", .shape = &indexed},
    {.name = "hindexed", .shape = &hindexed},
    {.name = "indexed_block", .shape = &indexed_block},
    {.name = "hindexed_block", .shape = &hindexed_block},
    {.name = "struct", .shape = &structure},
    {.name = "resized", .shape = &resized},
    {.name = "negative", .shape = &negative},
    {.name = "subarray", .shape = &subarray},
    {.name = "nested", .shape = &nested},
    {.name = "drawn", .shape = NULL},
    {.name = "empty", .shape = &empty},
    {.name = "bottom", .shape = &duplicate, .is_absolute = true},
    {.name = "bottom_contiguous", .shape = &contiguous, .is_absolute = true},
};
