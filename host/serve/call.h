/* SPDX-License-Identifier: MIT */
/* A request on its way through a route: what came, the job that it asks for, and the reply. Routes know nothing of HTTP's machinery. */
#ifndef CLFI_SERVE_CALL_H
#define CLFI_SERVE_CALL_H

#include <jansson.h>
#include <stdatomic.h>

#include "serve/job.h"
#include "serve/metrics.h"
#include "serve/queue.h"
#include "serve/workers.h"

/* How a server was asked for. Texts are borrowed from the command line. */
typedef struct srv_options {
    const char *host, *origin, *key_file; /* origin: whose pages may use it; NULL: none */
    size_t port, max_queue, max_body, timeout;
    srv_texts_limits texts;
    int log_json;
    int refuses_ids; /* nonzero: token ids in place of texts are refused */
} srv_options;

/* State that all requests share. */
typedef struct srv_state {
    const srv_options *options;
    srv_models models;
    srv_queue queue;
    srv_metrics metrics;
    srv_workers *workers;
    atomic_bool is_ready, is_draining;
    atomic_long in_flight; /* requests whose answer is not over */
} srv_state;

typedef enum srv_dialect { SRV_OPENAI, SRV_TEI, SRV_COHERE, SRV_OLLAMA } srv_dialect;

typedef struct srv_reply {
    int status;
    const char *type;  /* of its content; a literal */
    const char *allow; /* of 405 and OPTIONS; NULL: no such header */
    clf_str body;
} srv_reply;

typedef struct srv_call srv_call;

/* Facts about a request that its answer needs beside the job. */
typedef struct srv_wire {
    bool is_base64, normalises, is_flat, returns_texts, raw_scores;
    size_t dimensions; /* features of an embedding */
    size_t top;        /* best results; 0: all */
    bool has_usage;    /* a stream ends with it */
    bool has_begun;    /* a stream: something was sent */
    bool is_chat;
    char id[40];
    int64_t created;
    const json_t *texts; /* a list; borrowed from the body */
} srv_wire;

struct srv_call {
    srv_state *state;
    srv_dialect dialect;
    const char *rest; /* of the path, behind the route's own; "" */
    json_t *body;     /* NULL: a GET */
    srv_error error;  /* where `begin` or `answer` returns false */
    srv_reply reply;
    srv_job *job; /* a reference; NULL: the reply is there at once */
    srv_wire wire;
    bool (*answer)(srv_call *call); /* the job is over, and well: fills the reply */
    /* Next piece of a stream: appends what is new to `out`, with the job's lock held. *ended: it was the last piece. */
    clf_status (*stream)(srv_call *call, clf_str *out, bool *ended);
};

/* Sends the reply's body as the answer, with that media type. st: status of writing the body, which fails only for lack of memory. */
bool srv_reply_body(srv_call *call, clf_status st, const char *type);
#define SRV_JSON "application/json"

/* Takes over the value, also on failure. */
bool srv_reply_json(srv_call *call, json_t *value);

/* Makes a reply of the call's error, in the form of its dialect. */
void srv_reply_error(srv_call *call);

/* The error as a line of a stream that has begun. */
clf_status srv_stream_error(const srv_call *call, const srv_error *error, clf_str *out);

/* An object of OpenAI's, {"error": {...}}; NULL: no memory. */
json_t *srv_openai_error(const srv_error *error);

/* A failure of memory while a reply is made. */
bool srv_refuse_memory(srv_call *call);

#endif
