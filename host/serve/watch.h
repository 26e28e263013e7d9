/* SPDX-License-Identifier: MIT */
/* The thread that looks after connections: those whose client has left or sends too slowly, requests whose time is up, and clients that
 * still send when their answer is there. */
#ifndef CLFI_SERVE_WATCH_H
#define CLFI_SERVE_WATCH_H

#include "serve/queue.h"

/* Streams are woken so often, and send a comment where they have nothing else. */
#define SRV_PING_NS UINT64_C(1000000000)

typedef enum srv_phase {
    SRV_PHASE_IDLE,    /* between requests */
    SRV_PHASE_READING, /* a request is coming */
    SRV_PHASE_WAITING, /* it is with a worker, nothing was sent */
    SRV_PHASE_SENDING  /* its answer is under way */
} srv_phase;

/* A connection, from its acceptance to its close. */
typedef struct srv_connection {
    int fd;
    bool lingers;    /* the client may still send when the connection closes */
    srv_phase phase; /* guarded by the watch, as what follows */
    uint64_t since_ns;
    uint64_t left_ns;           /* when the client ended its side; 0: it has not */
    uint64_t pinged_ns;         /* when its stream was woken last */
    bool was_probed, is_modern; /* of HTTP 1.1 */
    srv_job *job;               /* of WAITING and SENDING; a reference */
    struct srv_connection *next, *before;
} srv_connection;

typedef struct srv_watch srv_watch;

/* seconds: for a whole request. The queue is woken when a job is cancelled. IO: no thread. */
clf_status srv_watch_start(size_t seconds, srv_queue *queue, srv_watch **out);
void srv_watch_stop(srv_watch *watch); /* NULL is a no-op */

/* *out: NULL where there is no memory. */
void srv_watch_open(srv_watch *watch, int fd, srv_connection **out);

/* The connection's end: the descriptor is closed by its owner next. */
void srv_watch_close(srv_watch *watch, srv_connection *connection);

/* Notes received bytes of a request. A client that goes on sending has more time. */
void srv_watch_receive(srv_watch *watch, srv_connection *connection, size_t bytes);

/* job: NULL in IDLE and READING. */
void srv_watch_set(srv_watch *watch, srv_connection *connection, srv_phase phase, srv_job *job);

#endif
