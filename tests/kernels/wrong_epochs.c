/* The answer of an MPI to one-sided calls outside the epoch that they need.
 *
 * Dinan et al., "An implementation and evaluation of the MPI 3.0 one-sided communication
 * interface", section 4.4: a state machine reports such calls. wrong_epochs FILE, on two ranks:
 * rank 0 makes the calls of each case, whose last call is wrong, and writes a line into the file:
 * the case, and the class of the error that the last call returns. Each case has its own window,
 * which cannot be freed. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define TARGET 1
#define LONGEST_S 5

static MPI_Win window;
static MPI_Group target;
static MPI_Request request;
static FILE *lines;
static const char *running; /* the case */
static int value;

static int lock(void)
{
    return MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, window);
}

static int unlock(void)
{
    return MPI_Win_unlock(TARGET, window);
}

static int lock_all(void)
{
    return MPI_Win_lock_all(0, window);
}

static int unlock_all(void)
{
    return MPI_Win_unlock_all(window);
}

static int flush(void)
{
    return MPI_Win_flush(TARGET, window);
}

static int fence(void)
{
    return MPI_Win_fence(0, window); /* rank 1 makes it, too */
}

static int put(void)
{
    return MPI_Put(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, window);
}

static int rput(void)
{
    return MPI_Rput(&value, 1, MPI_INT, TARGET, 0, 1, MPI_INT, window, &request);
}

static int start(void)
{
    return MPI_Win_start(target, MPI_MODE_NOCHECK, window);
}

static int complete(void)
{
    return MPI_Win_complete(window);
}

static int post(void)
{
    return MPI_Win_post(target, MPI_MODE_NOCHECK, window);
}

static int wait(void)
{
    return MPI_Win_wait(window);
}

static const struct {
    const char *name;
    int (*calls[3])(void);
} cases[] = {
    {"unlock_without_lock", {unlock}},
    {"unlock_all_without_lock_all", {unlock_all}},
    {"lock_twice", {lock, lock}},
    {"lock_in_lock_all", {lock_all, lock}},
    {"lock_all_in_lock", {lock, lock_all}},
    {"unlock_in_lock_all", {lock_all, unlock}},
    {"flush_without_lock", {flush}},
    {"flush_after_fence", {fence, put, flush}},
    {"put_without_epoch", {put}},
    {"rput_after_fence", {fence, put, rput}},
    {"lock_after_fence_and_put", {fence, put, lock}},
    {"start_in_lock", {lock, start}},
    {"lock_in_start", {start, lock}},
    {"complete_without_start", {complete}},
    {"wait_without_post", {wait}},
    {"post_twice", {post, post}},
};

static const char *name_of(int code)
{
    static const struct {
        int class;
        const char *name;
    } classes[] = {
        {MPI_ERR_RMA_SYNC, "MPI_ERR_RMA_SYNC"}, {MPI_ERR_RMA_CONFLICT, "MPI_ERR_RMA_CONFLICT"},
        {MPI_ERR_WIN, "MPI_ERR_WIN"},           {MPI_ERR_ARG, "MPI_ERR_ARG"},
        {MPI_ERR_RANK, "MPI_ERR_RANK"},         {MPI_ERR_OTHER, "MPI_ERR_OTHER"}};
    int class = 0;
    if (code == MPI_SUCCESS) {
        return "no error";
    }
    MPI_Error_class(code, &class);
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (classes[i].class == class) {
            return classes[i].name;
        }
    }
    return "another error";
}

static void leave(const char *word)
{
    fprintf(lines, "%s: %s\n", running, word);
    fflush(lines);
}

static void not_back(int signal_number)
{
    (void)signal_number;
    leave("does not return");
    _exit(0);
}

/* Rank 0 makes the calls; the other rank takes part only in the fence. */
static const char *make(int (*const *calls)(void), int rank)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < 3 && calls[i] != NULL; i++) {
        if (code != MPI_SUCCESS) {
            return "an earlier call fails";
        }
        if (rank == 0 || calls[i] == fence) {
            code = calls[i]();
        }
    }
    return name_of(code);
}

static void make_all(int rank)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int *memory;
        running = cases[i].name;
        MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
        MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
        if (rank == 0) {
            alarm(LONGEST_S);
        }
        const char *word = make(cases[i].calls, rank);
        if (rank == 0) {
            alarm(0);
            leave(word);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Group world;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, (int[]){TARGET}, &target);
    if (rank == 0) {
        lines = fopen(argv[1], "w");
        signal(SIGALRM, not_back);
    }
    make_all(rank);
    _exit(0); /* with epochs open */
}
