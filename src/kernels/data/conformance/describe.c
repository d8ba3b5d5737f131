/* A cell as data: its datatypes, where its operations are, and the bytes before and after them. */
#include "data/conformance/describe.h"

#include <stdio.h>
#include <stdlib.h>

#include "data/conformance/places.h"
#include "harness/memory.h"

/* The calls that make the datatypes of a tree, and what MPI counts displacements in. */
static const struct {
    const char *name;
    bool counts_bytes;
} constructors[] = {
    [ELEMENT] = {"MPI_Type_dup", false},
    [CONTIGUOUS] = {"MPI_Type_contiguous", false},
    [VECTOR] = {"MPI_Type_vector", false},
    [HVECTOR] = {"MPI_Type_create_hvector", true},
    [INDEXED] = {"MPI_Type_indexed", false},
    [HINDEXED] = {"MPI_Type_create_hindexed", true},
    [INDEXED_BLOCK] = {"MPI_Type_create_indexed_block", false},
    [HINDEXED_BLOCK] = {"MPI_Type_create_hindexed_block", true},
    [STRUCT] = {"MPI_Type_create_struct", true},
    [RESIZED] = {"MPI_Type_create_resized", true},
    [SUBARRAY] = {"MPI_Type_create_subarray", false},
    [DUP] = {"MPI_Type_dup", false},
};

static void write_integers(struct json *json, const char *key, const int *integers, size_t unit)
{
    json_key(json, key);
    json_open(json, '[');
    for (int i = 0; i < BLOCKS_MAX; i++) {
        json_integer(json, integers[i] * (long long)unit);
    }
    json_close(json, ']');
}

static void write_datatype(struct json *json, const struct shape *shape,
                           const struct element *element)
{
    const enum constructor constructor = shape->constructor;
    json_open(json, '{');
    json_key_text(json, "constructor", constructors[constructor].name);
    json_key_integer(json, "count", shape->count);
    write_integers(json, "lengths", shape->lengths, 1);
    write_integers(json, "displacements", shape->displacements,
                   constructors[constructor].counts_bytes ? element->bytes : 1);
    json_key(json, "children");
    json_open(json, '[');
    if (constructor == ELEMENT) {
        json_text(json, element->c_name);
    }
    for (int i = 0; i < BLOCKS_MAX && shape->children[i] != NULL; i++) {
        write_datatype(json, shape->children[i], element);
    }
    json_close(json, ']');
    json_close(json, '}');
}

/* The items of one side, in memory: the target's window, or a buffer of an origin. */
static void write_side(struct json *json, const char *side, const struct element *element,
                       const struct memory *memory)
{
    json_key(json, side);
    json_open(json, '{');
    json_key(json, "datatype");
    write_datatype(json, memory->placed->shape, element);
    json_key_integer(json, "count", memory->placed->count);
    json_key_boolean(json, "is_absolute", memory->placed->is_absolute);
    json_key_integer(json, "bytes", memory->size);
    json_key_integer(json, "begin", memory->begin + memory->placed->shift);
    json_key_integer(json, "slot", memory->placed->slot);
    json_key(json, "elements_at");
    json_open(json, '[');
    for (long long i = 0; i < memory->slots * memory->elements; i++) {
        json_integer(json, memory->begin + placed_at(memory->placed, i / memory->elements,
                                                     i % memory->elements));
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void write_filled(struct json *json, const char *key, struct memory memory,
                         const struct element *element, const unsigned char *elements)
{
    memory.bytes = allocate((size_t)memory.size + 1, 1);
    memory_fill(&memory, element, elements);
    json_key(json, key);
    json_open(json, '[');
    for (MPI_Aint i = 0; i < memory.size; i++) {
        json_integer(json, memory.bytes[i]);
    }
    json_close(json, ']');
    free(memory.bytes);
}

/* The bytes of a rank: of the target its window's, of an origin those of its buffers. */
static void write_rank(struct json *json, const struct plan *plan)
{
    const struct element *element = plan->element;
    const uint64_t seed = seed_of(plan, 0);
    const struct memory window = part_of(plan, 0, NULL);
    const struct memory sent = buffer_of(plan, "", NULL, seed + 1);
    const struct memory found = buffer_of(plan, "", NULL, seed);
    struct model model = model_make(plan, 0);
    json_open(json, '{');
    if (plan->has_memory) {
        write_side(json, "target", element, &window);
        write_filled(json, "before", window, element, model.before);
        write_filled(json, "after", window, element, model.state);
    }
    if (is_origin(plan, plan->launch->rank)) {
        write_side(json, "origin", element, &found);
        write_filled(json, "sent", sent, element, model.sent);
        write_filled(json, "compare", sent, element, model.compare);
        write_filled(json, "result", found, element, NULL);
        write_filled(json, "fetched", found, element, model.fetched);
    }
    json_close(json, '}');
    model_free(&model);
}

static void write_cell(struct json *json, const struct plan *plan)
{
    json_open(json, '{');
    json_key_text(json, "cell", plan->cell->id);
    json_key_text(json, "element", plan->element->c_name);
    json_key_integer(json, "gap_begin", (long long)plan->element->gap_begin);
    json_key_integer(json, "gap_end", (long long)plan->element->gap_end);
    json_key_text(json, "operator", plan->reduction == NULL ? NULL : plan->reduction->c_name);
    json_key_integer(json, "origin_rank", plan->origin_rank);
    json_key_integer(json, "target_rank", plan->target_rank);
    json_key(json, "ranks");
    json_open(json, '[');
    for (int rank = 0; rank < plan->launch->ranks; rank++) {
        struct launch launch = *plan->launch;
        struct plan own = *plan;
        launch.rank = rank;
        own.launch = &launch;
        own.has_memory = rank == plan->target_rank;
        write_rank(json, &own);
    }
    json_close(json, ']');
    json_close(json, '}');
}

void describe_cell(const struct plan *plan)
{
    const char *path = options_text(&plan->launch->options, "describe-cells");
    if (path == NULL || plan->launch->rank != 0) {
        return;
    }
    struct json json = {0};
    write_cell(&json, plan);
    FILE *file = fopen(path, "a");
    if (file != NULL) {
        fprintf(file, "%s\n", json.bytes);
    }
    if (file == NULL || fclose(file) != 0) {
        fprintf(stderr, "%s: --describe-cells: found %s; expected a file that can be written\n",
                plan->launch->kernel->name, path);
    }
    json_free(&json);
}
