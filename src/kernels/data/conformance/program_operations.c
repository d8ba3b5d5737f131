/* The operations of a program: the calls of an origin, one slot after the other. */
#include <ctype.h>
#include <stdio.h>

#include "data/conformance/call.h"
#include "data/conformance/program.h"

static void print_operation(FILE *file, const struct plan *plan)
{
    const struct call *call = plan->call;
    const bool is_absolute = plan->origin.is_absolute;
    const char *const op = plan->reduction == NULL ? "" : plan->reduction->c_name;
    fprintf(file, "            MPI_%c%s(", toupper(call->name[0]), call->name + 1);
    if (call->is_single) {
        fprintf(file, "from + here, %sinto + here, %s, TARGET, there, %s%swin);\n",
                call->compares ? "compare[mine] + here, " : "", plan->element->c_name, op,
                call->compares ? "" : ", ");
        return;
    }
    if (call->sends) {
        fprintf(file, "%s, ",
                is_absolute ? "MPI_BOTTOM, 1, sent" : "from + here, COUNT, here_type");
    }
    if (call->fetches) {
        fprintf(file, "%s, ", is_absolute ? "MPI_BOTTOM, 1, got" : "into + here, COUNT, here_type");
    }
    fprintf(file, "TARGET, there, %lld, there_type, %s%swin%s);\n", plan->target.count, op,
            op[0] == '\0' ? "" : ", ", call->has_request ? ", &requests[i]" : "");
}

static void print_absolute(FILE *file, const char *name, const char *buffer)
{
    fprintf(file,
            "            MPI_Datatype %s;\n"
            "            MPI_Get_address(%s + here, &address);\n"
            "            MPI_Type_create_hindexed(1, (int[]){COUNT}, &address, here_type, &%s);\n"
            "            MPI_Type_commit(&%s);\n",
            name, buffer, name, name);
}

void print_operations(FILE *file, const struct plan *plan)
{
    fprintf(file,
            "        for (int i = 0; i < %d; i++) {\n"
            "            const MPI_Aint here = %lld + i * %lldL;\n"
            "            const MPI_Aint there = base + %lld + %s * %lldL;\n",
            plan->outstanding, (long long)(window_lead(plan) + plan->origin.shift),
            (long long)plan->origin.slot, (long long)(window_lead(plan) + plan->target.shift),
            plan->overlap == APART ? "i" : "0", (long long)plan->target.slot);
    if (plan->origin.is_absolute) {
        fprintf(file, "            MPI_Aint address;\n");
        print_absolute(file, "sent", "from");
        print_absolute(file, "got", "into");
    }
    print_operation(file, plan);
    if (plan->origin.is_absolute) {
        fprintf(file, "            MPI_Type_free(&sent);\n            MPI_Type_free(&got);\n");
    }
    fprintf(file, "        }\n");
    if (plan->frees_types) {
        fprintf(file, "        MPI_Type_free(&here_type);\n        MPI_Type_free(&there_type);\n");
    }
}
