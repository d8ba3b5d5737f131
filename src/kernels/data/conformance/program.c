/* A cell as a C program of its own: no harness, no model, its bytes and datatypes as literals. */
#include "data/conformance/program.h"

#include <stdlib.h>
#include <string.h>

#include "data/conformance/call.h"
#include "data/conformance/print.h"

static const char *const head =
    "static unsigned char from[BUFFER_BYTES], into[BUFFER_BYTES], others[WINDOW_BYTES];\n\n"
    "static int look(const char *what, int rank, const unsigned char *found,\n"
    "                const unsigned char *expected, const unsigned char *compared, long bytes)\n"
    "{\n"
    "    int wrong = 0;\n"
    "    for (long i = 0; i < bytes; i++) {\n"
    "        if ((compared == NULL || compared[i]) && found[i] != expected[i] && wrong++ == 0) {\n"
    "            printf(\"rank %d: %s, byte %ld: found %d, expected %d\\n\", rank, what, i, "
    "found[i],\n"
    "                   expected[i]);\n"
    "        }\n"
    "    }\n"
    "    return wrong;\n"
    "}\n\n";

static void print_open(FILE *file, const struct plan *plan)
{
    static const char *const statements[] = {
        [FLAVOR_CREATE] = "        memories[w] = malloc(size + 1);\n"
                          "        MPI_Win_create(memories[w], size, 1, MPI_INFO_NULL, "
                          "MPI_COMM_WORLD, &wins[w]);\n",
        [FLAVOR_ALLOCATE] = "        MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, "
                            "&memories[w], &wins[w]);\n",
        [FLAVOR_SHARED] = "        MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, "
                          "MPI_COMM_WORLD, &memories[w], &wins[w]);\n",
        [FLAVOR_DYNAMIC] =
            "        memories[w] = malloc(size + 1);\n"
            "        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &wins[w]);\n"
            "        if (size > 0) {\n"
            "            MPI_Win_attach(wins[w], memories[w], size);\n"
            "        }\n"
            "        MPI_Get_address(memories[w], &bases[w]);\n"
            "        MPI_Bcast(&bases[w], 1, MPI_AINT, TARGET, MPI_COMM_WORLD);\n"};
    const bool at_one = strcmp(cell_choice_name(plan->cell, "memory"), "one") == 0;
    fprintf(file,
            "    const long size = %s;\n    for (int w = 0; w < WINDOWS; w++) {\n"
            "        bases[w] = 0;\n%s",
            at_one ? "rank == TARGET ? WINDOW_BYTES : 0" : "WINDOW_BYTES",
            statements[plan->flavor - flavors]);
    fprintf(file, "        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, wins[w]);\n"
                  "        for (long i = 0; i < size; i++) {\n"
                  "            others[i] = 255 - window_bytes[0][i];\n"
                  "            memories[w][i] = rank == TARGET ? window_bytes[0][i] : others[i];\n"
                  "        }\n"
                  "        MPI_Win_sync(wins[w]);\n"
                  "        MPI_Win_unlock(rank, wins[w]);\n    }\n"
                  "    MPI_Barrier(MPI_COMM_WORLD);\n");
}

static void print_datatypes(FILE *file, const struct plan *plan)
{
    int next = 0;
    const int here = print_datatype(file, plan->origin.shape, plan->element, &next);
    const int there = print_datatype(file, plan->target.shape, plan->element, &next);
    fprintf(file,
            "    MPI_Datatype here_type = t%d, there_type = t%d;\n"
            "    MPI_Type_commit(&here_type);\n    MPI_Type_commit(&there_type);\n",
            here, there);
}

static void print_program(FILE *file, struct plan *plan)
{
    fprintf(file, "/* %s\n *\n * mpicc program.c -o program && mpiexec -n %d ./program\n */\n",
            plan->cell->id, plan->launch->ranks);
    fprintf(file, "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
                  "#include <string.h>\n\n");
    fprintf(file,
            "enum { TARGET = %d, WINDOW_BYTES = %lld, BUFFER_BYTES = %lld, COUNT = %lld, "
            "WINDOWS = %d };\n",
            plan->target_rank, (long long)window_bytes(plan), (long long)buffer_bytes(plan),
            plan->origin.count, plan->windows);
    print_data(file, plan);
    fprintf(file, "%s", head);
    fprintf(file, "int main(int argc, char **argv)\n{\n    int rank, wrong = 0;\n"
                  "    MPI_Win wins[WINDOWS];\n    unsigned char *memories[WINDOWS];\n"
                  "    MPI_Aint bases[WINDOWS];\n"
                  "    MPI_Init(&argc, &argv);\n"
                  "    MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n");
    if (plan->overlap == ALL_RANKS) {
        fprintf(file, "    const int is_origin = 1, mine = rank;\n");
    } else {
        fprintf(file, "    const int is_origin = rank == %d, mine = 0;\n", plan->origin_rank);
    }
    print_open(file, plan);
    fprintf(file, "    for (int w = 0; w < WINDOWS; w++) {\n"
                  "    MPI_Win win = wins[w];\n"
                  "    unsigned char *memory = memories[w];\n"
                  "    const MPI_Aint base = bases[w];\n"
                  "    memcpy(from, origin[mine], BUFFER_BYTES);\n"
                  "    memcpy(into, result[mine], BUFFER_BYTES);\n");
    print_datatypes(file, plan);
    if (plan->call->has_request) {
        fprintf(file, "    static MPI_Request requests[%d];\n", plan->outstanding);
    }
    print_epoch(file, plan);
    fprintf(file,
            "    }\n    for (int w = 0; w < WINDOWS; w++) {\n"
            "        const int i = %s;\n%s"
            "        MPI_Win_free(&wins[i]);\n    }\n",
            plan->frees_backwards ? "WINDOWS - 1 - w" : "w",
            plan->flavor == &flavors[FLAVOR_DYNAMIC]
                ? "        if (size > 0) {\n            MPI_Win_detach(wins[i], memories[i]);\n"
                  "        }\n"
                : "");
    fprintf(file, "    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);\n"
                  "    if (rank == 0) {\n        printf(wrong ? \"%%d bytes are wrong\\n\" : "
                  "\"every byte is right\\n\", wrong);\n    }\n"
                  "    MPI_Finalize();\n    return wrong != 0;\n}\n");
}

void program_write(struct plan *plan)
{
    const char *path = options_text(&plan->launch->options, "program");
    if (path == NULL || plan->launch->rank != 0) {
        return;
    }
    FILE *file = fopen(path, "w");
    if (file != NULL) {
        print_program(file, plan);
    }
    if (file == NULL || fclose(file) != 0) {
        fprintf(stderr, "%s: --program: found %s; expected a file that can be written\n",
                plan->launch->kernel->name, path);
    }
}
