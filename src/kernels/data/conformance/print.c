/* Parts of a program: datatypes, and bytes as literals. */
#include "data/conformance/print.h"

#define BYTES_A_LINE 24

static void print_numbers(FILE *file, const char *type, const char *name, int variable,
                          const int *numbers, int count, long long unit)
{
    fprintf(file, "    const %s %s%d[] = {", type, name, variable);
    for (int i = 0; i < count; i++) {
        fprintf(file, "%s%lld", i == 0 ? "" : ", ", numbers[i] * unit);
    }
    fprintf(file, "};\n");
}

static void print_struct(FILE *file, const struct shape *shape, const int *children, int variable)
{
    fprintf(file, "    MPI_Datatype of%d[] = {", variable);
    for (int i = 0; i < shape->count; i++) {
        fprintf(file, "%st%d", i == 0 ? "" : ", ", children[i]);
    }
    fprintf(file, "};\n    MPI_Type_create_struct(%d, n%d, at%d, of%d, &t%d);\n", shape->count,
            variable, variable, variable, variable);
}

/* Where a constructor has a list of displacements: in bytes, or in children. */
static bool has_bytes(enum constructor constructor)
{
    return constructor == HINDEXED || constructor == HINDEXED_BLOCK || constructor == STRUCT;
}

static void print_call(FILE *file, const struct shape *shape, const struct element *element,
                       const int *children, int variable)
{
    const long long unit = (long long)element->bytes;
    const int child = children[0], v = variable;
    const int *at = shape->displacements, *n = shape->lengths;
    switch (shape->constructor) {
    case ELEMENT:
        fprintf(file, "    MPI_Type_dup(%s, &t%d);\n", element->c_name, v);
        break;
    case CONTIGUOUS:
        fprintf(file, "    MPI_Type_contiguous(%d, t%d, &t%d);\n", shape->count, child, v);
        break;
    case VECTOR:
        fprintf(file, "    MPI_Type_vector(%d, %d, %d, t%d, &t%d);\n", shape->count, n[0], at[0],
                child, v);
        break;
    case HVECTOR:
        fprintf(file, "    MPI_Type_create_hvector(%d, %d, %lld, t%d, &t%d);\n", shape->count, n[0],
                at[0] * unit, child, v);
        break;
    case INDEXED:
        fprintf(file, "    MPI_Type_indexed(%d, n%d, at%d, t%d, &t%d);\n", shape->count, v, v,
                child, v);
        break;
    case HINDEXED:
        fprintf(file, "    MPI_Type_create_hindexed(%d, n%d, at%d, t%d, &t%d);\n", shape->count, v,
                v, child, v);
        break;
    case INDEXED_BLOCK:
        fprintf(file, "    MPI_Type_create_indexed_block(%d, %d, at%d, t%d, &t%d);\n", shape->count,
                n[0], v, child, v);
        break;
    case HINDEXED_BLOCK:
        fprintf(file, "    MPI_Type_create_hindexed_block(%d, %d, at%d, t%d, &t%d);\n",
                shape->count, n[0], v, child, v);
        break;
    case RESIZED:
        fprintf(file, "    MPI_Type_create_resized(t%d, %lld, %lld, &t%d);\n", child, at[0] * unit,
                at[1] * unit, v);
        break;
    case SUBARRAY:
        fprintf(
            file,
            "    MPI_Type_create_subarray(2, (int[]){%d, %d}, (int[]){%d, %d}, (int[]){%d, %d}, "
            "MPI_ORDER_C, t%d, &t%d);\n",
            at[0] + shape->count, n[1], shape->count, n[0], at[0], at[1], child, v);
        break;
    case STRUCT:
        print_struct(file, shape, children, v);
        break;
    case DUP:
        fprintf(file, "    MPI_Type_dup(t%d, &t%d);\n", child, v);
    }
}

int print_datatype(FILE *file, const struct shape *shape, const struct element *element, int *next)
{
    int children[BLOCKS_MAX] = {0};
    const enum constructor constructor = shape->constructor;
    const int several = constructor == STRUCT ? shape->count : constructor != ELEMENT;
    for (int i = 0; i < several; i++) {
        children[i] = print_datatype(file, shape->children[i], element, next);
    }
    const int variable = (*next)++;
    fprintf(file, "    MPI_Datatype t%d;\n", variable);
    if (constructor == INDEXED || constructor == HINDEXED || constructor == STRUCT) {
        print_numbers(file, "int", "n", variable, shape->lengths, shape->count, 1);
    }
    if (has_bytes(constructor)) {
        print_numbers(file, "MPI_Aint", "at", variable, shape->displacements, shape->count,
                      (long long)element->bytes);
    } else if (constructor == INDEXED || constructor == INDEXED_BLOCK) {
        print_numbers(file, "int", "at", variable, shape->displacements, shape->count, 1);
    }
    print_call(file, shape, element, children, variable);
    return variable;
}

static void print_numbers_of(FILE *file, const unsigned char *bytes, long long count)
{
    for (long long i = 0; i < count; i++) {
        fprintf(file, "%s%d,", i % BYTES_A_LINE == 0 ? "\n    " : "", bytes[i]);
    }
}

void print_row(FILE *file, const char *name, const unsigned char *bytes, long long count)
{
    fprintf(file, "static const unsigned char %s[] = {", name);
    print_numbers_of(file, bytes, count);
    fprintf(file, "};\n");
}

void print_bytes(FILE *file, const char *name, const unsigned char *bytes, long long rows,
                 long long columns)
{
    fprintf(file, "static const unsigned char %s[%lld][%lld] = {", name, rows, columns + 1);
    for (long long row = 0; row < rows; row++) {
        fprintf(file, "%s{", row == 0 ? "" : ",\n    ");
        print_numbers_of(file, bytes + row * columns, columns);
        fprintf(file, "}");
    }
    fprintf(file, "};\n");
}
