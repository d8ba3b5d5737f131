/* Accesses to rank 0's memory (slots/slots.h) that their origins make, or that a server makes for
 * them (mpi/server.h). The server is rank 0 itself in its own calls, a second thread of rank 0, or
 * a further rank that shares rank 0's memory. A kernel's own struct begins with a struct served. */
#ifndef ONESIDED_SERVED_H
#define ONESIDED_SERVED_H

#include "mpi/server.h"
#include "slots/accesses.h"

enum serves { NOBODY, TARGET_ITSELF, A_THREAD, A_RANK };

struct served {
    struct slots slots; /* first */
    enum serves serves;
    /* At the server, for a request; its state is this struct. */
    void (*answer)(struct server *server, const struct request *request);
    struct server server; /* this and the following members belong to served_run */
    char *memory;         /* at the server: rank 0's part of the window */
    /* of the slots' trial; they do not run while the server's thread answers */
    void (*prepare)(void *state, long long burst);
    double (*go)(void *state, long long burst);
    void (*check)(void *state, long long burst);
};

/* Collective: can the cell run here? The record says why not. */
bool served_is_supported(const struct launch *launch, enum serves serves, bool computes,
                         struct record *record);

/* Collective: open the window, take all samples of the cell (mpi/trial.h), close the window. The
 * slots say what is accessed; with a server, served_run chooses the window and its epochs. */
void served_run(struct served *served, bool computes);

#endif
