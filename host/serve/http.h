/* SPDX-License-Identifier: MIT */
/* HTTP: connections, requests and answers, by libmicrohttpd. */
#ifndef CLFI_SERVE_HTTP_H
#define CLFI_SERVE_HTTP_H

#include "serve/call.h"

typedef struct srv_http srv_http;

/* A request that is over, for the log. */
typedef struct srv_access {
    const char *route; /* of the table, never the path of the request */
    int status;        /* 499: the client left before its answer */
    double seconds;
    const char *model; /* its id; NULL: none */
    size_t tokens;
} srv_access;

typedef struct srv_http_params {
    srv_state *state; /* borrowed */
    int socket;       /* listens; the server's from here on */
    const char *key;  /* borrowed; NULL: none */
    void (*log)(void *user, const srv_access *access);
    void *log_user;
} srv_http_params;

/* Begins to answer. IO: the system refuses. */
clf_status srv_http_start(const srv_http_params *params, srv_http **out);

/* Takes no more connections; those that are open are answered to the end of their requests. */
void srv_http_quiesce(srv_http *http);

/* Closes all. NULL is a no-op. */
void srv_http_stop(srv_http *http);

#endif
