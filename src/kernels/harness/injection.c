/* Faults put into one cell, or into all, for tests. */
#include "harness/injection.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/launch.h"
#include "harness/world.h"

#define SLOW_FACTOR 3.0
#define FLIPPED (INT64_C(1) << 20)
#define EVERY "every"
#define EVERY_CELL (-1)

void injection_read(struct launch *launch)
{
    static const char *const kinds[] = {[INJECT_WRONG_DATA] = "wrong_data",
                                        [INJECT_DROP] = "drop",
                                        [INJECT_REPEAT] = "repeat",
                                        [INJECT_FLIP] = "flip",
                                        [INJECT_IN_TURN] = "in_turn",
                                        [INJECT_CRASH] = "crash",
                                        [INJECT_FAULT] = "fault",
                                        [INJECT_ERROR] = "error",
                                        [INJECT_FATAL] = "fatal",
                                        [INJECT_HANG] = "hang",
                                        [INJECT_SLOW] = "slow",
                                        [INJECT_SHARED] = "shared"};
    const char *text = options_text(&launch->options, "inject");
    if (text == NULL) {
        return;
    }
    const size_t length = strcspn(text, "@");
    for (size_t i = 1; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strlen(kinds[i]) == length && strncmp(kinds[i], text, length) == 0) {
            launch->injection = (enum injection)i;
        }
    }
    const char *const place = text[length] == '@' ? text + length + 1 : "";
    if (strcmp(place, EVERY) == 0) {
        launch->injected_cell = EVERY_CELL;
    } else if (!parse_integer(place, 0, (double)launch->grid.count - 1, &launch->injected_cell)) {
        launch->injection = INJECT_NOTHING;
    }
    if (launch->injection == INJECT_NOTHING) {
        usage_fault(
            launch->kernel->name, "--inject", text,
            "wrong_data, drop, repeat, flip, in_turn, crash, fault, error, fatal, hang, slow or "
            "shared, then @ and the index of a cell, or " EVERY);
    }
}

bool launch_injects(const struct launch *launch, const struct cell *cell, enum injection kind)
{
    return launch->injection == kind &&
           (launch->injected_cell == EVERY_CELL || launch->injected_cell == (long long)cell->index);
}

enum injection launch_fault(const struct launch *launch, const struct cell *cell)
{
    static const enum injection in_turn[] = {INJECT_DROP, INJECT_REPEAT, INJECT_FLIP};
    if (launch_injects(launch, cell, INJECT_IN_TURN)) {
        return in_turn[cell->index % (sizeof in_turn / sizeof in_turn[0])];
    }
    const enum injection kind = launch->injection;
    const bool is_one = kind == INJECT_DROP || kind == INJECT_REPEAT || kind == INJECT_FLIP;
    return is_one && launch_injects(launch, cell, kind) ? kind : INJECT_NOTHING;
}

int64_t faulty_number(enum injection fault, int64_t number, int64_t before)
{
    return fault == INJECT_DROP     ? -1
           : fault == INJECT_REPEAT ? before
           : fault == INJECT_FLIP   ? number ^ FLIPPED
                                    : number;
}

double launch_slowed(const struct launch *launch, const struct cell *cell, double begin_s,
                     double end_s)
{
    if (launch_injects(launch, cell, INJECT_SLOW)) {
        const double slow_s = begin_s + SLOW_FACTOR * (end_s - begin_s);
        while ((end_s = clock_now_s()) < slow_s) {
        }
    }
    return end_s;
}

double launch_passed_s(const struct launch *launch, const struct cell *cell, double begin_s)
{
    return launch_slowed(launch, cell, begin_s, clock_now_s()) - begin_s;
}

/* As a library dies: a load from where nothing is. */
static void fault(void)
{
    const volatile int *const volatile nowhere = (const volatile int *)sysconf(_SC_PAGESIZE);
    (void)*nowhere;
}

void launch_inject(const struct launch *launch, const struct cell *cell)
{
    const bool is_last = launch->rank == launch->ranks - 1;
    if (is_last && launch_injects(launch, cell, INJECT_CRASH)) {
        abort();
    }
    if (is_last && launch_injects(launch, cell, INJECT_FAULT)) {
        fault();
    }
    if (is_last && launch_injects(launch, cell, INJECT_ERROR)) {
        world_err(false);
    }
    if (is_last && launch_injects(launch, cell, INJECT_FATAL)) {
        world_err(true);
    }
    while (launch_injects(launch, cell, INJECT_HANG) && launch->rank == 0) {
        pause();
    }
}
