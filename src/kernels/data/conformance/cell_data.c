/* A cell as data: its datatypes, where its operations are, and the bytes before and after them. */
#include "data/conformance/cell_data.h"

#include <stdio.h>
#include <stdlib.h>

#include "data/conformance/places.h"
#include "harness/memory.h"

/* The calls that make the datatypes of a tree. */
static const char *const constructors[] = {
    [ELEMENT] = "MPI_Type_dup",
    [CONTIGUOUS] = "MPI_Type_contiguous",
    [VECTOR] = "MPI_Type_vector",
    [HVECTOR] = "MPI_Type_create_hvector",
    [INDEXED] = "MPI_Type_indexed",
    [HINDEXED] = "MPI_Type_create_hindexed",
    [INDEXED_BLOCK] = "MPI_Type_create_indexed_block",
    [HINDEXED_BLOCK] = "MPI_Type_create_hindexed_block",
    [STRUCT] = "MPI_Type_create_struct",
    [RESIZED] = "MPI_Type_create_resized",
    [SUBARRAY] = "MPI_Type_create_subarray",
    [DUP] = "MPI_Type_dup",
};

static void write_integers(struct json *json, const char *key, const int *integers)
{
    json_key(json, key);
    json_open(json, '[');
    for (int i = 0; i < BLOCKS_MAX; i++) {
        json_integer(json, integers[i]);
    }
    json_close(json, ']');
}

static void write_datatype(struct json *json, const struct shape *shape,
                           const struct element *element)
{
    json_open(json, '{');
    json_key_text(json, "constructor", constructors[shape->constructor]);
    json_key_integer(json, "count", shape->count);
    write_integers(json, "lengths", shape->lengths);
    write_integers(json, "displacements", shape->displacements);
    json_key(json, "children");
    json_open(json, '[');
    if (shape->constructor == ELEMENT) {
        json_text(json, element->c_name);
    }
    for (int i = 0; i < BLOCKS_MAX && shape->children[i] != NULL; i++) {
        write_datatype(json, shape->children[i], element);
    }
    json_close(json, ']');
    json_close(json, '}');
}

/* Write a rank, its memory (the target's window, or an origin's buffers), and the items in it. */
static void write_side(struct json *json, const struct plan *plan, const struct memory *memory)
{
    const struct element *element = plan->element;
    json_key_integer(json, "rank", plan->launch->rank);
    json_key(json, "datatype");
    write_datatype(json, memory->placed->shape, element);
    json_key_integer(json, "count", memory->placed->count);
    json_key_boolean(json, "is_absolute", memory->placed->is_absolute);
    json_key_integer(json, "bytes", memory->size);
    json_key_integer(json, "begin", memory->begin + memory->placed->shift);
    json_key_integer(json, "slot", memory->placed->slot);
    json_key(json, "gaps");
    json_open(json, '[');
    for (long long i = 0; i < memory->slots * memory->elements; i++) {
        const long long slot = i / memory->elements, number = i % memory->elements;
        const MPI_Aint at = memory->begin + placed_at(memory->placed, slot, number);
        for (size_t gap = element->gap_begin; gap < element->gap_end; gap++) {
            json_integer(json, at + (MPI_Aint)gap);
        }
    }
    json_close(json, ']');
}

static void write_bytes(struct json *json, const char *key, struct memory memory,
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

static void write_target(struct json *json, const struct plan *plan, const struct model *model)
{
    const struct memory window = part_of(plan, 0, NULL);
    write_side(json, plan, &window);
    write_bytes(json, "before", window, plan->element, model->before);
    write_bytes(json, "after", window, plan->element, model->state);
}

static void write_origin(struct json *json, const struct plan *plan, const struct model *model)
{
    const struct memory from = buffer_of(plan, "", NULL, seed_of(plan, 0) + 1);
    const struct memory into = buffer_of(plan, "", NULL, seed_of(plan, 0));
    write_side(json, plan, &into);
    write_bytes(json, "sent", from, plan->element, model->sent);
    write_bytes(json, "compare", from, plan->element, model->compare);
    write_bytes(json, "result", into, plan->element, NULL);
    write_bytes(json, "fetched", into, plan->element, model->fetched);
}

/* Write the memory of another rank. */
static void write_rank(struct json *json, const struct plan *plan, int rank, bool is_target)
{
    struct launch launch = *plan->launch;
    struct plan own = *plan;
    launch.rank = rank;
    own.launch = &launch;
    own.has_memory = true;
    struct model model = model_make(&own, 0);
    json_open(json, '{');
    (is_target ? write_target : write_origin)(json, &own, &model);
    json_close(json, '}');
    model_free(&model);
}

static void write_cell(struct json *json, const struct plan *plan)
{
    json_open(json, '{');
    json_key_text(json, "cell", plan->cell->id);
    json_key_text(json, "element", plan->element->c_name);
    json_key_integer(json, "element_bytes", (long long)plan->element->bytes);
    json_key_text(json, "operator", plan->reduction == NULL ? NULL : plan->reduction->c_name);
    json_key(json, "target");
    write_rank(json, plan, plan->target_rank, true);
    json_key(json, "origins");
    json_open(json, '[');
    for (int rank = 0; rank < plan->launch->ranks; rank++) {
        if (is_origin(plan, rank)) {
            write_rank(json, plan, rank, false);
        }
    }
    json_close(json, ']');
    json_close(json, '}');
}

void cell_data_write(const struct plan *plan)
{
    const char *path = options_text(&plan->launch->options, "cell-data");
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
        fprintf(stderr, "%s: --cell-data: found %s; expected a file that can be written\n",
                plan->launch->kernel->name, path);
    }
    json_free(&json);
}
