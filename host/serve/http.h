/* SPDX-License-Identifier: MIT */
/* The HTTP side of the server, on libmicrohttpd: connections, requests and answers. */
#ifndef CLFI_SERVE_HTTP_H
#define CLFI_SERVE_HTTP_H

#include "serve/call.h"

typedef struct srv_http srv_http;

/* A request that is over, for the log. */
typedef struct srv_access {
    const char *route; /* its name in the table of routes, never the path of the request */
    int status;        /* 499: the client left before its answer */
    double seconds;
    const char *model; /* its id; NULL: none */
    size_t tokens;     /* of the input of embedding, reranking and classification; 0 for other requests */
} srv_access;

typedef struct srv_http_params {
    srv_state *state;                                  /* borrowed */
    int socket;                                        /* listens; srv_http owns it once it has started */
    const char *key;                                   /* that requests need; borrowed; NULL: none */
    bool is_local;                                     /* as for srv_headers_are_foreign */
    void (*log)(void *user, const srv_access *access); /* called by several threads */
    void *log_user;
} srv_http_params;

/* Starts to answer requests. IO: a thread or libmicrohttpd does not start. OUT_OF_MEMORY. */
clf_status srv_http_start(const srv_http_params *params, srv_http **out);

/* Accepts no more connections. Requests of open connections are still answered. */
void srv_http_quiesce(srv_http *http);

/* Closes all connections and frees *http. NULL is a no-op. */
void srv_http_stop(srv_http *http);

#endif
