/* A linked list whose elements are in a window, at the ranks that append them.
 *
 * A pointer is one word of eight bytes, the rank in its upper 16 bits and the displacement in the
 * lower 48: an atomic operation of MPI is atomic for one element of its datatype, so a rank could
 * read a pointer of two words when only one word is written. */
#ifndef ONESIDED_LIST_H
#define ONESIDED_LIST_H

#include <stdatomic.h>

#include "harness/launch.h"
#include "rma/window.h"

#define TARGET 0 /* its elements are read and written; it also has the head of the list */
#define NULL_POINTER INT64_C(-1)
#define RANK_SHIFT 48
#define RANKS_MAX 32768
#define DISPLACEMENT_MASK ((INT64_C(1) << RANK_SHIFT) - 1)

struct element {
    _Atomic int64_t next;
    int64_t value;
    char rest[48]; /* of a cache line */
};

struct list;

/* How a pointer in the window is read and written: a row of the axis. */
struct idiom {
    const char *name;
    int64_t (*read)(const struct list *list, int64_t element);
    void (*write)(const struct list *list, int64_t element, int64_t next);
    bool in_lock_all;  /* inside one epoch of all ranks; else each operation has its own */
    bool is_shared;    /* elements are in a shared window; else in a dynamic window */
    bool needs_a_call; /* in some libraries a read of the own element makes no progress */
    bool backs_off;    /* a rank that reads at once again may keep the lock from all other ranks */
};
extern const struct idiom idioms[5];

struct operation;

struct list {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct operation *operation;
    const struct idiom *idiom;
    int rank, ranks;
    struct window window;
    char **begins;            /* load_store: each rank's part, in this rank's memory */
    struct element *elements; /* of this rank: the elements that it appends, then the head */
    int capacity;             /* elements before the head */
    bool attaches_each;       /* elements when they are made; else all before */
    int64_t *own;             /* by element of this rank: its pointer; NULL_POINTER: not made */
    int64_t *pointers;        /* of the accessed elements, or of the list in order */
    int64_t *results;         /* read */
    uint64_t burst;           /* number of the burst, from 1 */
    double burst_s;
    struct series *time;
    struct verification order, values;
};

static inline int rank_of(int64_t pointer)
{
    return (int)(pointer >> RANK_SHIFT);
}

static inline MPI_Aint displacement_of(int64_t pointer)
{
    return (MPI_Aint)(pointer & DISPLACEMENT_MASK);
}

/* Collective: false, with the reason in the record, if there is no such window. */
bool list_open(struct list *list);
void list_close(struct list *list);

/* At one rank: make an element that others can access, and return its pointer. */
int64_t list_create(struct list *list, int index, int64_t next, int64_t value);

/* All ranks, after a barrier: remove their elements, which no rank accesses any more. */
void list_destroy(struct list *list);

/* Untimed, at one rank: read a whole element; the pointer must be valid. */
void list_get(const struct list *list, int64_t pointer, int64_t *next, int64_t *value);

/* All ranks, after a burst of so many elements a rank, with a barrier before: make the fault that a
 * test asks for; then the last rank follows the list and verifies each element. */
void list_walk(struct list *list, int appended);

/* All ranks, before a burst: make the head of a list, or `burst` elements of the target. */
void list_make_head(struct list *list, int burst);
void list_make_read(struct list *list, int burst);
void list_make_written(struct list *list, int burst);

/* All ranks, after a burst: verify each pointer that was read or written. */
void list_check_read(struct list *list, int burst);
void list_check_written(struct list *list, int burst);

/* Rows of a kernel's table of options. */
#define WALK_OPTIONS                                                                               \
    {.name = "fault",                                                                              \
     .argument = "swap_elements|torn_pointer|lost_append|repeated_append|altered_value",           \
     .help = "for tests: what becomes of each list, at its end",                                   \
     .kind = OPTION_CHOICE}

/* The value of an element, by its place in the list; and the place, by rank and index. */
int64_t list_value(const struct list *list, long long place);
long long list_place(const struct list *list, int rank, int index);

#endif
