/* How the next number is taken: with calls of MPI-2, and with one operation of MPI-3. */
#include <stdlib.h>
#include <string.h>

#include "mpi/checked.h"
#include "stfc/shared_counter/counter.h"

/* ---- Elements: the counter has four or eight bytes. ---- */

static int64_t element(const struct counter *counter, const void *elements, int index)
{
    int32_t narrow;
    int64_t wide;
    if (counter->element_bytes == sizeof narrow) {
        memcpy(&narrow, (const char *)elements + (size_t)index * sizeof narrow, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, (const char *)elements + (size_t)index * sizeof wide, sizeof wide);
    return wide;
}

static void set_element(const struct counter *counter, void *elements, int index, int64_t value)
{
    const int32_t narrow = (int32_t)value;
    if (counter->element_bytes == sizeof narrow) {
        memcpy((char *)elements + (size_t)index * sizeof narrow, &narrow, sizeof narrow);
    } else {
        memcpy((char *)elements + (size_t)index * sizeof value, &value, sizeof value);
    }
}

/* Before a get: set elements to a value that the counter, or a part of it, cannot have. */
static void forget_elements(const struct counter *counter, int count)
{
    for (int i = 0; i < count; i++) {
        set_element(counter, counter->result, i, -1);
    }
}

static int64_t sum_of_elements(const struct counter *counter, const void *elements, int count)
{
    int64_t sum = 0;
    for (int i = 0; i < count; i++) {
        sum += element(counter, elements, i);
    }
    return sum;
}

/* ---- Algorithms ---- */

static int one_element(int ranks)
{
    (void)ranks;
    return 1;
}

static int64_t first_element(const struct counter *counter)
{
    return element(counter, counter->opened.memory, 0);
}

static void nothing(struct counter *counter)
{
    (void)counter;
}

static void lock_all(struct counter *counter)
{
    CHECKED(MPI_Win_lock_all(0, counter->window));
}

static void unlock_all(struct counter *counter)
{
    CHECKED(MPI_Win_unlock_all(counter->window));
}

/* mpi2_array: an element for each rank holds how many numbers this rank has got; the sum of all
 * elements is the next number. An epoch touches each element once, so it needs no order of
 * accesses. */

static int element_a_rank(int ranks)
{
    return ranks;
}

static int64_t sum_of_ranks(const struct counter *counter)
{
    return sum_of_elements(counter, counter->opened.memory, counter->ranks);
}

/* The displacement of an element of the window. */
static MPI_Aint place(const struct counter *counter, int index)
{
    return counter->begin + (MPI_Aint)index * counter->element_bytes;
}

static void get_others(struct counter *counter, int first, int count)
{
    if (count > 0) {
        CHECKED(MPI_Get((char *)counter->result + (size_t)first * (size_t)counter->element_bytes,
                        count, counter->type, TARGET, place(counter, first), count, counter->type,
                        counter->window));
    }
}

static int64_t next_of_array(struct counter *counter)
{
    const int rank = counter->rank;
    set_element(counter, counter->operand, 0, counter->own_count + 1);
    forget_elements(counter, counter->ranks);
    CHECKED(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, counter->window));
    get_others(counter, 0, rank);
    get_others(counter, rank + 1, counter->ranks - rank - 1);
    CHECKED(MPI_Put(counter->operand, 1, counter->type, TARGET, place(counter, rank), 1,
                    counter->type, counter->window));
    CHECKED(MPI_Win_unlock(TARGET, counter->window));
    set_element(counter, counter->result, rank, counter->own_count++);
    return sum_of_elements(counter, counter->result, counter->ranks);
}

static void read_own_element(struct counter *counter)
{
    forget_elements(counter, 1);
    CHECKED(MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, counter->window));
    CHECKED(MPI_Get(counter->result, 1, counter->type, TARGET, place(counter, counter->rank), 1,
                    counter->type, counter->window));
    CHECKED(MPI_Win_unlock(TARGET, counter->window));
    verify_element(&counter->own_element, element(counter, counter->result, 0), counter->own_count,
                   (size_t)counter->rank, (uint64_t)counter->own_count);
}

/* mpi2_tree: a binary tree in an array (root 0, children of i at 2i+1 and 2i+2), with a leaf for
 * each rank; each node counts the numbers that ranks below it have got. An access adds one to the
 * nodes on the way from its leaf to the root, and gets the siblings of these nodes: again each node
 * is touched once, and there are as few nodes as the tree is high. The root itself is not
 * needed. */

static int tree_leaves(int ranks)
{
    int leaves = 1;
    while (leaves < ranks) {
        leaves *= 2;
    }
    return leaves;
}

static int tree_nodes(int ranks)
{
    return 2 * tree_leaves(ranks) - 1;
}

static int64_t sum_of_leaves(const struct counter *counter)
{
    return element(counter, counter->opened.memory, 1) +
           element(counter, counter->opened.memory, 2);
}

static void make_tree_types(struct counter *counter)
{
    int path[32], siblings[32];
    counter->levels = 0;
    for (int node = tree_leaves(counter->ranks) - 1 + counter->rank; node > 0;
         node = (node - 1) / 2) {
        path[counter->levels] = node;
        siblings[counter->levels++] = node % 2 == 1 ? node + 1 : node - 1;
    }
    CHECKED(MPI_Type_create_indexed_block(counter->levels, 1, path, counter->type, &counter->path));
    CHECKED(MPI_Type_create_indexed_block(counter->levels, 1, siblings, counter->type,
                                          &counter->siblings));
    CHECKED(MPI_Type_commit(&counter->path));
    CHECKED(MPI_Type_commit(&counter->siblings));
    for (int level = 0; level < counter->levels; level++) {
        set_element(counter, counter->operand, level, 1);
    }
}

static void free_tree_types(struct counter *counter)
{
    CHECKED(MPI_Type_free(&counter->path));
    CHECKED(MPI_Type_free(&counter->siblings));
}

static int64_t next_of_tree(struct counter *counter)
{
    forget_elements(counter, counter->levels);
    CHECKED(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, counter->window));
    CHECKED(MPI_Get(counter->result, counter->levels, counter->type, TARGET, counter->begin, 1,
                    counter->siblings, counter->window));
    CHECKED(MPI_Accumulate(counter->operand, counter->levels, counter->type, TARGET, counter->begin,
                           1, counter->path, MPI_SUM, counter->window));
    CHECKED(MPI_Win_unlock(TARGET, counter->window));
    return counter->own_count++ + sum_of_elements(counter, counter->result, counter->levels);
}

/* MPI-3: one atomic operation on one element. */

static void make_one(struct counter *counter)
{
    set_element(counter, counter->operand, 0, 1);
}

static void make_one_and_lock_all(struct counter *counter)
{
    make_one(counter);
    lock_all(counter);
}

static int64_t next_by_fetch_and_op(struct counter *counter)
{
    CHECKED(MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, counter->window));
    CHECKED(MPI_Fetch_and_op(counter->operand, counter->result, counter->type, TARGET,
                             counter->begin, MPI_SUM, counter->window));
    CHECKED(MPI_Win_unlock(TARGET, counter->window));
    return element(counter, counter->result, 0);
}

static int64_t next_by_fetch_and_op_flush(struct counter *counter)
{
    CHECKED(MPI_Fetch_and_op(counter->operand, counter->result, counter->type, TARGET,
                             counter->begin, MPI_SUM, counter->window));
    CHECKED(MPI_Win_flush(TARGET, counter->window));
    return element(counter, counter->result, 0);
}

static int64_t next_by_get_accumulate(struct counter *counter)
{
    CHECKED(MPI_Get_accumulate(counter->operand, 1, counter->type, counter->result, 1,
                               counter->type, TARGET, counter->begin, 1, counter->type, MPI_SUM,
                               counter->window));
    CHECKED(MPI_Win_flush(TARGET, counter->window));
    return element(counter, counter->result, 0);
}

/* Try to swap the expected number for the next number, until the expected number was right. The
 * number seen last is remembered, so that without other ranks an access is one operation. */
static int64_t next_by_compare_and_swap(struct counter *counter)
{
    for (;;) {
        const int64_t expected = counter->expected;
        set_element(counter, counter->compared, 0, expected);
        set_element(counter, counter->operand, 0, expected + 1);
        CHECKED(MPI_Compare_and_swap(counter->operand, counter->compared, counter->result,
                                     counter->type, TARGET, counter->begin, counter->window));
        CHECKED(MPI_Win_flush(TARGET, counter->window));
        const int64_t found = element(counter, counter->result, 0);
        counter->falls += found < expected;
        counter->expected = found == expected ? expected + 1 : found;
        if (found == expected) {
            return found;
        }
    }
}

const struct algorithm algorithms[] = {
    {.name = "mpi2_array",
     .elements = element_a_rank,
     .begin = nothing,
     .next = next_of_array,
     .end = nothing,
     .value = sum_of_ranks,
     .read_back = read_own_element},
    {.name = "mpi2_tree",
     .elements = tree_nodes,
     .begin = make_tree_types,
     .next = next_of_tree,
     .end = free_tree_types,
     .value = sum_of_leaves},
    {.name = "fetch_and_op",
     .elements = one_element,
     .begin = make_one,
     .next = next_by_fetch_and_op,
     .end = nothing,
     .value = first_element},
    {.name = "fetch_and_op_flush",
     .elements = one_element,
     .begin = make_one_and_lock_all,
     .next = next_by_fetch_and_op_flush,
     .end = unlock_all,
     .value = first_element},
    {.name = "get_accumulate_flush",
     .elements = one_element,
     .begin = make_one_and_lock_all,
     .next = next_by_get_accumulate,
     .end = unlock_all,
     .value = first_element},
    {.name = "compare_and_swap",
     .elements = one_element,
     .begin = lock_all,
     .next = next_by_compare_and_swap,
     .end = unlock_all,
     .value = first_element,
     .sees_falls = true},
};
