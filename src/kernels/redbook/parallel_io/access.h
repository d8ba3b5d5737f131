/* A file that is opened in one of several ways, and accesses for which no space is left. */
#ifndef ONESIDED_ACCESS_H
#define ONESIDED_ACCESS_H

#include "mpi/checked.h"
#include "mpi/world.h"
#include "redbook/parallel_io/cube.h"

struct access;
struct way {
    const char *name;
    void (*open)(struct access *own);
    void (*write)(struct access *own);
    void (*read)(struct access *own);
    void (*close)(struct access *own);
    bool by_darray; /* views are made by MPI_Type_create_darray; else by MPI_Type_create_subarray */
    bool own_files; /* each rank has a file of its own, with its block */
};

struct access {
    struct launch *launch;
    const struct cell *cell;
    struct record *record;
    const struct way *way;
    bool reads;
    struct cube cube;
    struct stored stored;
    MPI_File file;  /* for accesses through MPI */
    int descriptor; /* for other accesses; -1: this rank has none */
    double open_s, device_s;
    struct series *open, *device;
    bool is_full; /* this rank found no space left */
    bool is_over; /* some rank did: the cell takes no further sample */
};

/* Ways to open the file: through MPI with this rank's view; at each rank; at rank 0 alone; each
 * rank a file of its own. */
void open_view(struct access *own);
void open_each(struct access *own);
void open_first(struct access *own);
void open_own(struct access *own);
void close_view(struct access *own);
void close_own(struct access *own);

/* Untimed, before and after an access: set the values and open the file; compare; record times. */
void access_prepare(void *state, long long burst);
void access_check(void *state, long long burst);
void access_keep(void *state, long long burst);

/* Collective, at the end of a cell: remove this rank's own file. */
void access_remove(const struct access *own);

/* Check the code and status of an access through MPI, or the errno of a system call: the access was
 * right, or no space was left, or the launch ends. */
void access_ended(struct access *own, const char *call, int code, const MPI_Status *status);
void access_ended_with(struct access *own, const char *call, int error);

#endif
