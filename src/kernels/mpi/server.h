/* A server: it answers requests of other ranks, as the handlers of active messages do.
 *
 * It is a second thread of a rank, which waits inside MPI and needs MPI_THREAD_MULTIPLE, or a rank
 * of its own. A request has a tag, a struct of the kernel's, and a payload or none; the kernel's
 * `answer` is called with it at the server. A payload that is short travels in the request, as the
 * data of an active message does; a long one is a message of its own.
 *
 * Two communicators keep requests and all else apart, so that the server's rank may ask, too. */
#ifndef ONESIDED_SERVER_H
#define ONESIDED_SERVER_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/launch.h"

#define SERVER_HEADER_BYTES 56   /* a kernel's struct has so many, at most */
#define SERVER_SHORT_BYTES 8192  /* a payload of so many is in the request itself */
#define SERVER_RELEASE_TAG 32000 /* requests have lesser ones */

struct request {
    int source;
    int tag;
    const void *header; /* the kernel's struct */
    const void *payload;
    size_t payload_bytes;
};

struct server {
    struct record *record;
    int rank;       /* where it is */
    bool is_thread; /* of that rank; else that rank calls server_serve */
    /* At the server, for one request after the other; it may call server_answer once. */
    void (*answer)(struct server *server, const struct request *request);
    void *state; /* of `answer` */
    /* What follows belongs to this room. Requests that this rank has made, and has answered: the
     * latter may be read after server_stop. */
    long long asked, answered;
    MPI_Comm requests, replies;
    int own_rank, ranks;
    char *outgoing; /* of a rank that asks */
    char *incoming, *payload;
    size_t payload_room;
    pthread_t thread;
    pthread_mutex_t guard; /* held while a request is answered */
};

/* Tell whether a thread may be a server; the record says why not, the same on all ranks. */
bool server_thread_is_supported(const struct launch *launch, struct record *record);

/* Collective, with the first five members set, the same on all ranks. */
void server_start(struct server *server);

/* At a rank of its own: answer until all other ranks have released it. It can serve again. */
void server_serve(struct server *server);

/* At each other rank: it asks nothing more of a rank that serves. */
void server_release(const struct server *server);

/* Collective: release a thread and end it; a rank has been released before. The record says whether
 * as many requests were answered as all ranks have made. */
void server_stop(struct server *server);

/* At the server's rank: keep the thread from what both access, from here to there. Messages alone
 * order accesses of two processes, and not those of two threads. */
void server_hold(struct server *server);
void server_let(struct server *server);

/* ---- For a rank that asks; one thread of it ---- */

/* Returns when the header and the payload may be changed. A rank waits for the answer to a request,
 * if it has one, before the next. */
void server_ask(struct server *server, int tag, const void *header, size_t header_bytes,
                const void *payload, size_t payload_bytes);

/* Wait for the answer, which has so many bytes. */
void server_await(const struct server *server, void *data, size_t data_bytes);

/* ---- For `answer` ---- */

/* Send the answer; with no bytes it is an acknowledgement. */
void server_answer(const struct server *server, const struct request *request, const void *data,
                   size_t data_bytes);

#endif
