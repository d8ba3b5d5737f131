/* The other threads of this process: do they need cores? */
#include "harness/other_threads.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TASKS "/proc/self/task"

/* The seconds of one thread; 0 if it has just ended. */
static double wanted_s(const char *task)
{
    char path[sizeof TASKS + 64];
    unsigned long long ran_ns = 0, waited_ns = 0;
    snprintf(path, sizeof path, TASKS "/%.32s/schedstat", task);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    const int found = fscanf(file, "%llu %llu", &ran_ns, &waited_ns);
    fclose(file);
    return found == 2 ? 1e-9 * (double)(ran_ns + waited_ns) : 0;
}

double other_threads_s(void)
{
    const long own = (long)syscall(SYS_gettid);
    double sum_s = 0;
    DIR *tasks = opendir(TASKS);
    if (tasks == NULL) {
        return 0;
    }
    for (const struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
        const long thread = strtol(task->d_name, NULL, 10); /* 0: "." and ".." */
        sum_s += thread == 0 || thread == own ? 0 : wanted_s(task->d_name);
    }
    closedir(tasks);
    return sum_s;
}

int other_threads_busy(double before_s, double passed_s)
{
    const double share = passed_s > 0 ? (other_threads_s() - before_s) / passed_s : 0;
    return share > 0 ? (int)lround(share) : 0;
}
