/* SPDX-License-Identifier: MIT */
/* Work of a device's process in the pool, and the messages between it and the process that hands out windows. */
#ifndef CLFI_JOBS_POOL_DEVICE_H
#define CLFI_JOBS_POOL_DEVICE_H

#include "jobs/classifying.h"
#include "jobs/embedding.h"

enum { CLI_POOL_REASON_BYTES = 1024 };

/* Between the processes: two forks of one program, so that structs have one layout and borrowed texts of the command line one address. */
typedef struct cli_pool_task {
    bool scores; /* pairs, with the query or of two texts each; else texts are embedded */
    cli_embedding embedding;
    cli_classifying scoring;
} cli_pool_task;

typedef struct cli_pool_request {
    cli_pool_task what;
    size_t count, bytes; /* then the sizes of all its texts, then their bytes */
} cli_pool_request;

typedef struct cli_pool_reply {
    clf_status status;
    char reason[CLI_POOL_REASON_BYTES];
    size_t failed; /* of the request's texts, to which the reason belongs; SIZE_MAX: none */
    clf_embed_stats stats;
    unsigned product_precisions; /* of the process so far, as clf_context_stats has them */
    size_t numbers;              /* floats that follow */
    const char *linear_engine;   /* the model's, of the first reply, which tells that it is open; static storage */
} cli_pool_reply;

/* Arguments of the process. */
typedef struct cli_pool_place {
    const cli_session *session;
    const char *directory, *device;
} cli_pool_place;

/* The texts of a request for so many results: where pairs come without a query, all first ones and then all second ones. */
size_t cli_pool_texts(const cli_pool_task *what, size_t count);

/* Numbers of a text: the embedding's width, or one score. */
clf_status cli_pool_width(const cli_session *session, const cli_pool_task *what, size_t *out);

/* Opens the session's models on the device and tells how that went; then answers requests until the other side is gone or one fails.
 * user: a cli_pool_place. */
void cli_pool_serve(int socket, const void *user);

#endif
