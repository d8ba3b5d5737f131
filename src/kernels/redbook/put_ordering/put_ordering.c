/* Order of overlapping puts: what does it cost that the later one wins?
 *
 * Source: Marcelo Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM
 * SG24-5611, 1999), sections 3.5.1.6 and 3.5.3.4: puts that overlap may complete in any order. A
 * fence after each keeps them in order, as does waiting for a completion counter, which in MPI is
 * the same call: MPI_Win_flush; a sliding window waits only before a put that overlaps one under
 * way. Beside them: disjoint puts, which need no order; accumulates with MPI_REPLACE, which are
 * ordered, unless the window's info says accumulate_ordering=none; messages, whose receives are
 * ordered. Timed, in seconds: a put, the mean of a burst with all that it waits for. A put has four
 * blocks, and shares its first and its last with its neighbours' (redbook/put_ordering/places.h).
 * Verified: every block, those that two puts write too: it is the later one's. Without an order
 * it may be the other's, and these are counted. */
#include "mpi/checked.h"
#include "redbook/put_ordering/places.h"

/* ---- THE TIMED LOOPS of an origin ---- */

INLINE void put_one(const struct places *places, long long i)
{
    CHECKED(MPI_Put(PUT_HERE(places, i), PUT_THERE(places, i), places->window.handle));
}

static void go_one_flush(struct places *places, long long burst)
{
    for (long long i = 0; i < burst; i++) {
        put_one(places, i);
    }
    CHECKED(MPI_Win_flush(TARGET, places->window.handle));
}

static void go_flush_each(struct places *places, long long burst)
{
    for (long long i = 0; i < burst; i++) {
        put_one(places, i);
        CHECKED(MPI_Win_flush(TARGET, places->window.handle));
    }
}

/* What is under way is known by place: the puts since the last flush. */
static void go_sliding_window(struct places *places, long long burst)
{
    long long flushed = 0; /* all puts before this one are complete */
    for (long long i = 0; i < burst; i++) {
        const long long place = places->place_of[i];
        if (is_under_way(places, place - 1, flushed) || is_under_way(places, place + 1, flushed)) {
            CHECKED(MPI_Win_flush(TARGET, places->window.handle));
            flushed = i;
        }
        places->put_at[place] = i;
        put_one(places, i);
    }
    CHECKED(MPI_Win_flush(TARGET, places->window.handle));
}

static void go_accumulate(struct places *places, long long burst)
{
    for (long long i = 0; i < burst; i++) {
        CHECKED(MPI_Accumulate(PUT_HERE(places, i), PUT_THERE(places, i), MPI_REPLACE,
                               places->window.handle));
    }
    CHECKED(MPI_Win_flush(TARGET, places->window.handle));
}

/* The reply says that the last message, and so each before it, is where it belongs. */
static void go_messages(struct places *places, long long burst)
{
    for (long long i = 0; i < burst; i++) {
        CHECKED(MPI_Send(PUT_HERE(places, i), TARGET, 0, world_communicator));
    }
    CHECKED(MPI_Recv(NULL, 0, MPI_BYTE, TARGET, 1, world_communicator, MPI_STATUS_IGNORE));
}

static const struct idiom idioms[] = {
    {.name = "disjoint", .go = go_one_flush, .is_disjoint = true},
    {.name = "flush_each", .go = go_flush_each},
    {.name = "sliding_window", .go = go_sliding_window},
    {.name = "ordered_accumulates", .go = go_accumulate},
    {.name = "unordered_accumulates", .go = go_accumulate, .is_unordered = true},
    {.name = "messages", .go = go_messages, .is_two_sided = true},
};

static const struct axis axes[] = {
    {.name = "idiom",
     .help = "how overlapping puts are kept in order",
     .kind = AXIS_CHOICE,
     .fallback = "disjoint,flush_each,sliding_window,ordered_accumulates,unordered_accumulates,"
                 "messages",
     .choices = TABLE(idioms)},
    {.name = "flavor",
     .help = "where the window's memory comes from",
     .kind = AXIS_CHOICE,
     .fallback = "allocate",
     .choices = TABLE(flavors),
     .only_with = "idiom=disjoint,flush_each,sliding_window,ordered_accumulates,"
                  "unordered_accumulates"},
    {.name = "size_bytes",
     .help = "size of a put, a multiple of 32",
     .kind = AXIS_INTEGER,
     .fallback = "32,1024",
     .minimum = 32,
     .maximum = 1 << 24},
    {.name = "distance",
     .help = "puts that overlap come so many puts after each other",
     .kind = AXIS_INTEGER,
     .fallback = "1,8",
     .minimum = 1,
     .maximum = 1000,
     .only_with = "idiom=flush_each,sliding_window,ordered_accumulates,unordered_accumulates,"
                  "messages"},
};

static const struct option options[] = {TRIAL_OPTIONS("64", "20", "0.05")};

static void run_cell(struct launch *launch, const struct cell *cell, struct record *record)
{
    places_run(launch, cell, record, cell_choice(cell, "idiom"));
}

KERNEL("put_ordering", "time of a put that overlaps others and is kept in order with them",
       .run_cell = run_cell)
