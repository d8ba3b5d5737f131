/* The critical section: a counter that only mutual exclusion keeps right. */
#include "dinan/mutex/section.h"

#include <stdlib.h>

#include "harness/memory.h"
#include "mpi/checked.h"
#include "mpi/shared_page.h"
#include "mpi/world.h"
#include "rma/synchronisation.h"

#define NONE (-1) /* a place that no rank took */

static MPI_Aint bytes_of(const struct section *section)
{
    return (MPI_Aint)(section->places + 1) * (MPI_Aint)sizeof(int64_t);
}

static bool has_place(const struct section *section, int64_t place)
{
    return place >= 0 && place < section->places;
}

/* ---- In the timed loop ---- */

/* MPI orders no accesses outside MPI, so C's fences do. Load and store together are not atomic. */
static int64_t pass_memory(struct section *section)
{
    atomic_thread_fence(memory_order_seq_cst);
    const int64_t place = atomic_load_explicit(&section->page[0], memory_order_relaxed);
    if (has_place(section, place)) {
        atomic_store_explicit(&section->page[1 + place], section->launch->rank,
                              memory_order_relaxed);
    }
    atomic_store_explicit(&section->page[0], place + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    return place;
}

static int64_t pass_window(struct section *section)
{
    const MPI_Win window = section->window.handle;
    const MPI_Aint begin = section->window.begins[section->home];
    const int64_t rank = section->launch->rank;
    int64_t place = NONE;
    CHECKED(MPI_Get(&place, 1, MPI_INT64_T, section->home, begin, 1, MPI_INT64_T, window));
    CHECKED(MPI_Win_flush(section->home, window));
    const int64_t count = place + 1;
    if (has_place(section, place)) {
        CHECKED(MPI_Put(&rank, 1, MPI_INT64_T, section->home,
                        begin + (1 + place) * (MPI_Aint)sizeof rank, 1, MPI_INT64_T, window));
    }
    CHECKED(MPI_Put(&count, 1, MPI_INT64_T, section->home, begin, 1, MPI_INT64_T, window));
    CHECKED(MPI_Win_flush(section->home, window));
    return place;
}

const struct section_kind section_kinds[] = {{"memory", pass_memory}, {"window", pass_window}};

/* ---- Before and after ---- */

bool section_open(struct section *section, struct launch *launch, const struct section_kind *kind,
                  long long places, struct record *record)
{
    *section = (struct section){.launch = launch,
                                .kind = kind,
                                .home = launch->ranks - 1,
                                .places = places,
                                .counter = {.name = "counter"},
                                .order = {.name = "order"}};
    if (kind->pass == pass_memory) {
        section->page = shared_page_open(world_communicator, (size_t)bytes_of(section));
        if (section->page == NULL) {
            record_status(record, CELL_UNSUPPORTED,
                          "section=memory needs memory that all ranks share outside MPI");
            return false;
        }
    } else {
        section->window = window_open(launch, &flavors[FLAVOR_ALLOCATE], bytes_of(section));
        window_hold(&section->window);
    }
    section->taken = allocate((size_t)places, sizeof section->taken[0]);
    section->log = allocate((size_t)places + 1, sizeof section->log[0]);
    return true;
}

void section_close(struct section *section)
{
    if (section->page != NULL) {
        shared_page_close(section->page, (size_t)bytes_of(section));
    } else {
        window_close(&section->window);
    }
    free(section->taken);
    free(section->log);
}

static int64_t cleared(long long place)
{
    return place == 0 ? 0 : NONE;
}

void section_clear(struct section *section)
{
    if (section->launch->rank != section->home) {
        return;
    }
    if (section->page != NULL) {
        for (long long place = 0; place <= section->places; place++) {
            atomic_store(&section->page[place], cleared(place));
        }
        return;
    }
    window_begin_own(&section->window, MPI_LOCK_SHARED);
    for (long long place = 0; place <= section->places; place++) {
        ((int64_t *)section->window.memory)[place] = cleared(place);
    }
    window_end_own(&section->window);
}

static void read_log(struct section *section)
{
    if (section->page != NULL) {
        for (long long place = 0; place <= section->places; place++) {
            section->log[place] = atomic_load(&section->page[place]);
        }
        return;
    }
    CHECKED(MPI_Get(section->log, (int)section->places + 1, MPI_INT64_T, section->home,
                    section->window.begins[section->home], (int)section->places + 1, MPI_INT64_T,
                    section->window.handle));
    CHECKED(MPI_Win_flush(section->home, section->window.handle));
}

void section_check(struct section *section, long long total, long long own, uint64_t burst)
{
    read_log(section);
    for (long long cycle = 0; cycle < own; cycle++) {
        const int64_t place = section->taken[cycle];
        const int64_t found = has_place(section, place) ? section->log[1 + place] : NONE;
        verify_element(&section->order, found, section->launch->rank, (size_t)cycle, burst);
    }
    if (section->launch->rank == section->home) {
        verify_element(&section->counter, section->log[0], total, 0, burst);
    }
}

double section_fairness(const struct section *section, int first, long long cycles)
{
    const int ranks = section->launch->ranks;
    long long *times = allocate((size_t)ranks, sizeof times[0]);
    long long fewest = cycles;
    for (long long place = 0; place < section->places; place++) {
        const int64_t rank = section->log[1 + place];
        if (rank >= first && rank < ranks && ++times[rank] == cycles) {
            break;
        }
    }
    for (int rank = first; rank < ranks; rank++) {
        fewest = times[rank] < fewest ? times[rank] : fewest;
    }
    free(times);
    return (double)fewest / (double)cycles;
}
