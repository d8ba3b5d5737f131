/* The epoch of a program: its calls at the origin and at the target, and what each may look at. */
#include <stdio.h>
#include <string.h>

#include "data/conformance/call.h"
#include "data/conformance/program.h"

static void print_look_at_origin(FILE *file, const struct plan *plan)
{
    if (plan->call->fetches) {
        fprintf(file, "        wrong += look(\"result\", rank, into, fetched[mine], "
                      "fetched_compared, BUFFER_BYTES);\n");
    }
    if (plan->call->sends) {
        fprintf(file, "        memset(from, 170, BUFFER_BYTES);\n");
    }
}

struct texts {
    const char *before, *after; /* at an origin */
    const char *target_before, *target_after;
};

static struct texts texts_of(const struct plan *plan, char *lock, size_t capacity)
{
    const struct synchronisation *way = plan->synchronisation;
    const char *assertion = strstr(way->name, "nocheck") != NULL ? "MPI_MODE_NOCHECK" : "0";
    const char *type = is_exclusive(way) ? "MPI_LOCK_EXCLUSIVE" : "MPI_LOCK_SHARED";
    if (way->calls == LOCK_UNLOCK) {
        snprintf(lock, capacity, "        MPI_Win_lock(%s, TARGET, %s, win);\n", type, assertion);
        return (struct texts){lock, "        MPI_Win_unlock(TARGET, win);\n", "", ""};
    }
    if (way->kind == PASSIVE) {
        snprintf(lock, capacity, "        MPI_Win_lock_all(%s, win);\n", assertion);
        return (struct texts){lock,
                              way->calls == NOTHING_FLUSH
                                  ? "        MPI_Win_flush(TARGET, win);\n"
                                  : "        MPI_Win_flush_local(TARGET, win);\n",
                              "", ""};
    }
    if (way->kind == COLLECTIVE_ACTIVE) {
        return (struct texts){"        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);\n",
                              "        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);\n",
                              "    if (!is_origin) {\n"
                              "        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);\n    }\n",
                              "    if (!is_origin) {\n"
                              "        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);\n    }\n"};
    }
    return (struct texts){"        MPI_Win_start(targets, 0, win);\n",
                          "        MPI_Win_complete(win);\n",
                          "    if (rank == TARGET) {\n"
                          "        MPI_Win_post(origins, 0, win);\n    }\n",
                          "    if (rank == TARGET) {\n        MPI_Win_wait(win);\n    }\n"};
}

static void print_groups(FILE *file, const struct plan *plan)
{
    fprintf(file, "    MPI_Group world, origins, targets;\n"
                  "    MPI_Comm_group(MPI_COMM_WORLD, &world);\n"
                  "    MPI_Group_incl(world, 1, (int[]){TARGET}, &targets);\n");
    if (plan->overlap == ALL_RANKS) {
        fprintf(file, "    origins = world;\n");
    } else {
        fprintf(file, "    MPI_Group_incl(world, 1, (int[]){%d}, &origins);\n", plan->origin_rank);
    }
}

void print_epoch(FILE *file, const struct plan *plan)
{
    char lock[128];
    const struct texts texts = texts_of(plan, lock, sizeof lock);
    const struct synchronisation *way = plan->synchronisation;
    const bool holds = way->kind == PASSIVE && way->calls != LOCK_UNLOCK;
    if (way->kind == GENERAL_ACTIVE) {
        print_groups(file, plan);
    }
    fprintf(file, "%s    if (is_origin) {\n%s", texts.target_before, texts.before);
    print_operations(file, plan);
    if (plan->call->has_request) {
        fprintf(file,
                "        for (int i = 0; i < %d; i++) {\n"
                "            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);\n        }\n",
                plan->outstanding);
        print_look_at_origin(file, plan);
    }
    fprintf(file, "%s", texts.after);
    if (!plan->call->has_request) {
        print_look_at_origin(file, plan);
    }
    if (way->calls == NOTHING_FLUSH_LOCAL) {
        fprintf(file, "        MPI_Win_flush(TARGET, win);\n");
    }
    fprintf(file, "    }\n%s    MPI_Barrier(MPI_COMM_WORLD);\n", texts.target_after);
    fprintf(
        file,
        holds
            ? "    if (!is_origin) {\n        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);\n    }\n"
            : "    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);\n");
    fprintf(
        file,
        "    MPI_Win_sync(win);\n"
        "    wrong += look(\"window\", rank, memory, rank == TARGET ? window_bytes[1] : others, "
        "window_compared, size);\n");
    fprintf(file, holds ? "    if (!is_origin) {\n        MPI_Win_unlock(rank, win);\n    }\n"
                        : "    MPI_Win_unlock(rank, win);\n");
    fprintf(file, "    MPI_Barrier(MPI_COMM_WORLD);\n");
    if (holds) {
        fprintf(file, "    if (is_origin) {\n        MPI_Win_unlock_all(win);\n    }\n");
    }
}
