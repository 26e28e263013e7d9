/* SPDX-License-Identifier: MIT */
/* A thread that watches the server's connections. It ends those whose client has left or sends too slowly, cancels requests whose time is
 * up, and reads on for clients that still send when their answer has been sent. */
#ifndef CLFI_SERVE_WATCH_H
#define CLFI_SERVE_WATCH_H

#include "serve/queue.h"

/* A stream is woken at this interval, and sends a comment if it has no text. */
#define SRV_PING_NS UINT64_C(1000000000)

typedef enum srv_phase {
    SRV_PHASE_IDLE,    /* between requests */
    SRV_PHASE_READING, /* a request is coming */
    SRV_PHASE_WAITING, /* it is with a worker, nothing was sent */
    SRV_PHASE_SENDING  /* its answer is being sent */
} srv_phase;

/* A connection, from its acceptance to its close. */
typedef struct srv_connection {
    int fd;
    bool lingers;               /* the client may still send when the connection closes */
    srv_phase phase;            /* guarded by the watch's lock, like the members below */
    uint64_t began_ns;          /* when the phase began */
    uint64_t since_ns;          /* the same; later for a client that keeps sending */
    uint64_t read_bytes;        /* that were read from the socket when phase IDLE began; set and used by the HTTP thread */
    uint64_t left_ns;           /* when the client ended its side; 0: it has not */
    uint64_t pinged_ns;         /* when its stream was woken last */
    bool was_probed, is_modern; /* is_modern: its requests are HTTP 1.1, and it may be probed by an interim response */
    srv_job *job;               /* of WAITING, and of a stream's SENDING; a reference */
    struct srv_connection *next, *before;
    struct srv_connection *own_next, *own_before; /* in the list of srv_watch_own */
    void *request;                                /* used by the HTTP side: the request that was begun; NULL: none */
} srv_connection;

typedef struct srv_watch srv_watch;

/* seconds: time limit of a whole request. The watch wakes the queue when it cancels a job. IO: no thread. OUT_OF_MEMORY. */
clf_status srv_watch_start(size_t seconds, srv_queue *queue, srv_watch **out);
void srv_watch_stop(srv_watch *watch); /* NULL is a no-op */

/* Begins to watch a connection, in phase IDLE. *out NULL: there was no memory. The thread that calls it also calls srv_watch_close. */
void srv_watch_open(srv_watch *watch, int fd, srv_connection **out);

/* Ends the watch of a connection and frees it. Afterwards the owner closes the descriptor. */
void srv_watch_close(srv_watch *watch, srv_connection *connection);

/* The first connection that the calling thread has opened and not closed; the others follow by own_next. NULL: it has none. */
srv_connection *srv_watch_own(void);

/* Notes received bytes of a request. A client that goes on sending has more time. */
void srv_watch_receive(srv_watch *watch, srv_connection *connection, size_t bytes);

/* Whether bytes of an IDLE connection may have been read from its socket in this phase. False is certain. Called by its HTTP thread. */
bool srv_watch_has_read(const srv_connection *connection);

/* Begins a phase. job: the connection's job, NULL: none. */
void srv_watch_set(srv_watch *watch, srv_connection *connection, srv_phase phase, srv_job *job);

#endif
