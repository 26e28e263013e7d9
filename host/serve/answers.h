/* SPDX-License-Identifier: MIT */
/* A request of the HTTP side, and its answers. Only http.c and answers.c use it. */
#ifndef CLFI_SERVE_ANSWERS_H
#define CLFI_SERVE_ANSWERS_H

#include <microhttpd.h>

#include "base/str.h"
#include "serve/routes.h"
#include "serve/watch.h"

typedef struct srv_request {
    struct srv_http *http;
    struct MHD_Connection *connection;
    srv_watch *watch;
    srv_connection *watched; /* NULL: there was no memory for it */
    srv_call call;
    const srv_route *route; /* NULL: unknown path or method */
    clf_str body, stream;
    size_t sent; /* bytes of `stream`; before the answer: bytes of the body that came */
    bool stream_ended;
    const char *target;       /* as it came, in libmicrohttpd's buffer; only its address is used after begin_request */
    size_t target_size, held; /* held: bytes of memory beyond FREE_BYTES that the body, or its JSON values, occupy */
    char *path;               /* of the target, decoded */
    char allow[64];
    bool has_headers, is_complete, is_counted, is_answered, closes;
    uint64_t start_ns, sent_ns; /* sent_ns: when a stream last sent something */
} srv_request;

/* srv_answer queues the call's reply; libmicrohttpd takes over its body. srv_answer_error sends the call's error. srv_answer_early sends it
 * before the body is read and ends the connection; the client may still be sending (lingers). */
enum MHD_Result srv_answer(srv_request *r);
enum MHD_Result srv_answer_error(srv_request *r);
enum MHD_Result srv_answer_early(srv_request *r);

/* Writes the error to the socket and ends the connection, if libmicrohttpd takes no response: within a body, and for malformed messages. */
enum MHD_Result srv_answer_cut_off(srv_request *r);

/* Suspends the connection until the job wakes it; the job's lock is held. */
void srv_answer_sleep(srv_request *r);

/* Continues a request that its job has woken: sends the answer, begins the stream, or waits on. */
enum MHD_Result srv_answer_job(srv_request *r);

#endif
