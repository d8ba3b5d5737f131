/* A barrier of two OpenMP threads of rank 1. Only this file is compiled with OpenMP, if the
 * compiler has it. */
#include <dlfcn.h>
#include <mpi.h>
#include <string.h>

#include "machine/baseline/baseline.h"
#include "mpi/checked.h"
#include "mpi/world.h"

#ifdef _OPENMP
#include <omp.h>

#define THREADS 2

static int threads_found(void)
{
    int found = 0;
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp single
        found = omp_get_num_threads();
    }
    return found;
}

/* The burst, in one parallel region. */
void meet_by_openmp(struct experiment *experiment, int64_t repeat)
{
    int64_t crossed[THREADS] = {0};
#pragma omp parallel num_threads(THREADS)
    {
        int64_t count = 0;
        for (int64_t i = 0; i < repeat; i++) {
#pragma omp barrier
            count++;
        }
        crossed[omp_get_thread_num()] = count;
    }
    experiment->changed += crossed[0] - miscounts_now(experiment);
    experiment->second_done += crossed[1];
}

/* OpenMP's threads may spin for a while after their work, so they are ended before the next
 * baseline. Older compilers do not declare the function that ends them. */
static void end_threads(void)
{
    void *symbol = dlsym(RTLD_DEFAULT, "omp_pause_resource_all");
    int (*pause_all)(int kind) = NULL;
    if (symbol != NULL) {
        const int hard = 2;
        memcpy(&pause_all, &symbol, sizeof pause_all);
        pause_all(hard);
    }
}

static const char *missing(void)
{
    const int found = threads_found();
    return found == THREADS ? NULL : "OpenMP gave fewer than the two threads that were asked for";
}

#else

void meet_by_openmp(struct experiment *experiment, int64_t repeat)
{
    (void)experiment, (void)repeat;
}

static void end_threads(void)
{
}

static const char *missing(void)
{
    return "the kernel was built without OpenMP: CMake found none for the compiler";
}

#endif

static bool open_openmp(struct experiment *experiment)
{
    const char *reason = experiment->launch->rank == ORIGIN ? missing() : NULL;
    int is_there = reason == NULL;
    if (!is_there) {
        record_status(experiment->record, CELL_UNSUPPORTED, "%s", reason);
    }
    CHECKED(MPI_Bcast(&is_there, 1, MPI_INT, ORIGIN, world_communicator));
    return is_there;
}

static void close_openmp(struct experiment *experiment)
{
    if (experiment->launch->rank == ORIGIN) {
        end_threads();
    }
}

const struct baseline_kind openmp = {
    .open = open_openmp, .close = close_openmp, .verify = verify_both_counts};
