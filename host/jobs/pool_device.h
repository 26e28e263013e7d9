/* SPDX-License-Identifier: MIT */
/* The process of one device in the pool, and the messages between it and the process that hands out windows. */
#ifndef CLFI_JOBS_POOL_DEVICE_H
#define CLFI_JOBS_POOL_DEVICE_H

#include "jobs/classifying.h"
#include "jobs/embedding.h"

enum { CLI_POOL_REASON_BYTES = 1024 };

/* The messages between the processes. All processes are forks of one program, so structs have the same layout, and strings of the command
 * line have the same address. */
typedef struct cli_pool_task {
    bool scores; /* true: score pairs, the query with each text or two texts each; false: embed texts */
    cli_embedding embedding;
    cli_classifying scoring;
} cli_pool_task;

typedef struct cli_pool_request {
    cli_pool_task what;
    size_t count, bytes; /* number of results; bytes of all texts. After the struct come the sizes of the texts, then their bytes */
} cli_pool_request;

typedef struct cli_pool_reply {
    clf_status status;
    char reason[CLI_POOL_REASON_BYTES];
    size_t failed; /* index of the result whose text caused the failure; SIZE_MAX: none */
    clf_embed_stats stats;
    unsigned product_precisions; /* of the process so far, as in clf_context_stats */
    size_t numbers;              /* number of floats that come after the struct */
    const char *linear_engine;   /* first reply, about opening the model: the model's engine, in static storage */
} cli_pool_reply;

/* Arguments of a device's process: device "" is the default one. */
typedef struct cli_pool_place {
    const cli_session *session;
    const char *directory, *device;
} cli_pool_place;

/* Returns the number of texts in a request for `count` results. Pairs without a query have two: all first texts, then all second texts. */
size_t cli_pool_texts(const cli_pool_task *what, size_t count);

/* *out: floats per result, which is the embedding's width, or 1 for a score. */
clf_status cli_pool_width(const cli_session *session, const cli_pool_task *what, size_t *out);

/* Opens the session's models on the device and sends a reply about it. Then answers requests until the other process is gone or a request
 * fails. user: a cli_pool_place. */
void cli_pool_serve(int socket, const void *user);

#endif
