/* SPDX-License-Identifier: MIT */
/* A request as its route sees it: the body, the job that it needs from a device, and the reply. Routes do not depend on libmicrohttpd. */
#ifndef CLFI_SERVE_CALL_H
#define CLFI_SERVE_CALL_H

#include <jansson.h>
#include <stdatomic.h>

#include "serve/job.h"
#include "serve/metrics.h"
#include "serve/queue.h"
#include "serve/workers.h"

/* Options of `clformer serve`. Strings are borrowed from the command line. */
typedef struct srv_options {
    /* origin: web pages of this origin may use the server; "*": of any, NULL: of none. key_file: NULL: CLF_API_KEY has the key, if any. */
    const char *host, *origin, *key_file;
    size_t port, timeout;       /* port 0: a free one; timeout in seconds */
    size_t max_queue, max_body; /* requests that may wait for one model; bytes */
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
    atomic_long in_flight; /* requests whose body has come and whose answer is unfinished */
} srv_state;

typedef enum srv_dialect { SRV_OPENAI, SRV_TEI, SRV_COHERE, SRV_OLLAMA } srv_dialect;

typedef struct srv_reply {
    int status;
    const char *type;  /* Content-Type; a literal */
    const char *allow; /* Allow, for 405 and OPTIONS; NULL: no such header */
    clf_str body;
} srv_reply;

typedef struct srv_call srv_call;

/* Facts about the request that its answer needs in addition to the job. */
typedef struct srv_wire {
    /* is_base64, normalises: of embeddings. is_flat: /predict answers one text without an outer list. returns_texts: documents are
     * repeated in the answer. raw_scores: logits in place of probabilities. */
    bool is_base64, normalises, is_flat, returns_texts, raw_scores;
    size_t dimensions; /* features of an embedding */
    size_t top;        /* most documents in Cohere's answer */
    bool has_usage;    /* a stream ends with the numbers of tokens */
    bool has_begun;    /* a stream: its first piece was written */
    bool is_chat;
    char id[40];         /* of the answer */
    int64_t created;     /* seconds since 1970 */
    const json_t *texts; /* the list of documents to rerank; borrowed from the body */
} srv_wire;

struct srv_call {
    srv_state *state;
    srv_dialect dialect;
    const char *rest; /* the part of the path that the route's '*' stands for; "" */
    json_t *body;     /* NULL: a GET, or the job owns it */
    srv_error error;  /* the reason if `begin` or `answer` returns false */
    srv_reply reply;
    srv_job *job;                  /* a reference; NULL: `begin` has filled the reply */
    void (*watch)(srv_call *call); /* the job was made: from now on the HTTP side cancels it for a client that leaves. NULL: nobody does */
    srv_wire wire;
    bool (*answer)(srv_call *call); /* fills the reply after the job has succeeded; not called for streams */
    /* Appends the next piece of a stream to `out`; the caller holds the job's lock. *ended: it was the last piece. */
    clf_status (*stream)(srv_call *call, clf_str *out, bool *ended);
};

/* Makes call->job, for work on the model; the job takes over the call's body. */
bool srv_begin_job(srv_call *call, const srv_model *model);

/* Whether the call's job is still wanted. False: it was cancelled, and the call is refused for the same reason. `begin` asks before each
 * text, because texts may be many and long. */
bool srv_check_wanted(srv_call *call);

/* Completes a reply whose body has been written: HTTP status 200, this media type (a literal), true. st: status of writing the body, which
 * fails only for lack of memory; then the call is refused. */
bool srv_reply_body(srv_call *call, clf_status st, const char *type);
#define SRV_JSON "application/json"

/* Replies with the value as JSON; takes over the reference, also on failure. NULL: there was no memory for the value. */
bool srv_reply_json(srv_call *call, json_t *value);

/* Makes a reply of the call's error, in the form of its dialect. */
void srv_reply_error(srv_call *call);

/* Appends the error as the last line of a stream that has begun. */
clf_status srv_stream_error(const srv_call *call, const srv_error *error, clf_str *out);

/* The error as OpenAI's object, {"error": {...}}. The caller releases it. NULL: no memory. */
json_t *srv_openai_error(const srv_error *error);

/* Refuses the call for lack of memory; returns false. */
bool srv_refuse_memory(srv_call *call);

/* Whether the server takes requests. False: the call is refused, because models are being loaded or the server is shutting down. */
bool srv_check_ready(srv_call *call);

#endif
