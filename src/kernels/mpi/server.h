/* A server: it answers requests of other ranks, as the handlers of active messages do.
 *
 * A server is a second thread of a rank, which waits inside MPI and needs MPI_THREAD_MULTIPLE, or a
 * rank of its own. A request has a tag, a struct of the kernel, and sometimes a payload; at the
 * server the kernel's `answer` is called with the request. A short payload travels in the request,
 * as the data of an active message do; a long payload is a message of its own.
 *
 * Requests have a communicator of their own, so the server's rank may ask, too. */
#ifndef ONESIDED_SERVER_H
#define ONESIDED_SERVER_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "harness/launch.h"

#define SERVER_HEADER_BYTES 56   /* a kernel's struct has at most so many */
#define SERVER_SHORT_BYTES 8192  /* a payload of at most so many is in the request */
#define SERVER_RELEASE_TAG 32000 /* requests have lower tags */

struct request {
    int source;
    int tag;
    const void *header; /* the kernel's struct */
    const void *payload;
    size_t payload_bytes;
};

struct server {
    struct record *record;
    int rank;       /* the server's rank */
    bool is_thread; /* a thread of that rank; else the rank calls server_serve */
    /* At the server, for one request after the other; it may call server_answer once. */
    void (*answer)(struct server *server, const struct request *request);
    void *state; /* of `answer` */
    /* The following members belong to server.c. How many requests this rank has made, and has
     * answered; read `answered` only after server_stop. */
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

/* At a server that is a rank: answer until all other ranks have released it. It can serve again. */
void server_serve(struct server *server);

/* At each other rank: tell a rank that serves that this rank asks no more. */
void server_release(const struct server *server);

/* Collective: release and end a thread; a rank was released before. The record says whether the
 * answered requests are as many as all ranks have made. */
void server_stop(struct server *server);

/* At the server's rank, from server_hold to server_let: keep the thread away from data that both
 * access. Messages order the accesses of two processes, but not of two threads. */
void server_hold(struct server *server);
void server_let(struct server *server);

/* ---- For one thread of a rank that asks ---- */

/* Send a request; when it returns, header and payload may be changed. If a request has an answer,
 * the rank waits for the answer before its next request. */
void server_ask(struct server *server, int tag, const void *header, size_t header_bytes,
                const void *payload, size_t payload_bytes);

/* Wait for the answer, which has so many bytes. */
void server_await(const struct server *server, void *data, size_t data_bytes);

/* ---- For `answer` ---- */

/* Send the answer; an answer without bytes is an acknowledgement. */
void server_answer(const struct server *server, const struct request *request, const void *data,
                   size_t data_bytes);

#endif
