/* Order of overlapping puts: how long does it take to ensure that the later put wins?
 *
 * Source: Marcelo Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM
 * SG24-5611, 1999), sections 3.5.1.6 and 3.5.3.4: puts that overlap may complete in any order. In
 * the source a fence after each put, or a wait for a completion counter, keeps puts in order; in
 * MPI both are MPI_Win_flush. A sliding window waits only before a put that overlaps a put under
 * way. Also: disjoint puts, which need no order; accumulates with MPI_REPLACE, which are ordered
 * unless the window's info says accumulate_ordering=none; messages, whose receives are ordered.
 * Timed, in seconds: a put, as the mean of a burst with all its waits. A put has four blocks, and
 * shares its first and its last block with neighbouring puts (redbook/put_ordering/places.h).
 * Verified: every block. A block of two puts must have the data of the later put. Without an order
 * it may have the data of the earlier put; such elements are counted. */
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

/* The puts since the last flush are under way; `put_at` has them by place. */
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

/* The reply says that the last message, and so each message before it, has arrived. */
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
    CHOICE_AXIS("idiom", "how overlapping puts are kept in order",
                "disjoint,flush_each,sliding_window,ordered_accumulates,unordered_accumulates,"
                "messages",
                idioms),
    FLAVOR_ONLY_WITH_AXIS("allocate",
                          "idiom=disjoint,flush_each,sliding_window,ordered_accumulates,"
                          "unordered_accumulates"),
    INTEGER_AXIS("size_bytes", "size of a put, a multiple of 32", "32,1024", 32, 1 << 24),
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
