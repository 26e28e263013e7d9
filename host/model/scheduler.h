/* SPDX-License-Identifier: MIT */
/* Continuous batching: requests of one session join a running batch, are continued together token by token, and leave it one by one.
 * Prompts are read in pieces between the tokens of the others. One thread drives a scheduler. */
#ifndef CLFI_MODEL_SCHEDULER_H
#define CLFI_MODEL_SCHEDULER_H

#include "model/request.h"

typedef struct clf_scheduler clf_scheduler;

/* Called by a step when a place is free and no request waits; may add requests. A failure ends the step. */
typedef clf_status (*clf_request_supply)(void *user, clf_scheduler *scheduler);

typedef struct clf_scheduler_params {
    size_t places;             /* requests that run together; 0: CLFI_BATCH_SEQUENCES */
    size_t pass_tokens;        /* tokens of one pass, prompts' and texts' together; 0: CLFI_PASS_TOKENS */
    size_t cache_rows;         /* most tokens, of all texts together, with keys and values in the cache; only for models without sources. 0:
                                  no limit; a text waits until the device has room for the longest that it may become */
    size_t kept_rows;          /* of cache_rows: tokens of ended texts, whose keys and values are used again by prompts that begin alike; 0:
                                  none */
    clf_request_supply supply; /* NULL: requests come only by clfi_scheduler_add */
    void *user;
} clf_scheduler_params;

/* The session is borrowed; its other sequences may be used between steps. With cache_rows the memory of the cache is taken at once. Texts
 * then join while there is room for their tokens so far; if it runs out, the text that joined last waits again. UNSUPPORTED: the model does
 * not generate text, or attends to sources and cache_rows is not 0. OUT_OF_MEMORY: no such cache. */
clf_status clfi_scheduler_create(clf_session *session, const clf_scheduler_params *params, clf_scheduler **out);

/* Makes all kernels of later passes ready for use, also after a loss of the device. Errors as clfi_scheduler_step. */
clf_status clfi_scheduler_warm(clf_scheduler *scheduler);

/* Requests that have not ended get no further call; their callers destroy them. NULL is a no-op. */
void clfi_scheduler_destroy(clf_scheduler *scheduler);

/* The request waits for a place after those that wait already. May be called from a request's callback. The request stays its caller's and
 * must live until its last call. OUT_OF_MEMORY. INVALID_ARGUMENT: a request of another session. */
clf_status clfi_scheduler_add(clf_scheduler *scheduler, clf_request *request);

/* Counters of a scheduler. */
typedef struct clf_scheduler_stats {
    uint64_t passes;
    uint64_t tokens;     /* chosen tokens, those that end texts included */
    uint64_t read_bytes; /* bytes read from the device for these choices */
    uint64_t whole_rows; /* choices that needed all logits */
    uint64_t shared;     /* tokens of prompts whose keys and values were there */
    uint64_t put_back;   /* how often a text gave up its place because cache rows ran out; all of its tokens are given again later */
} clf_scheduler_stats;
clf_scheduler_stats clfi_scheduler_get_stats(const clf_scheduler *scheduler);

/* Requests that run or wait. */
size_t clfi_scheduler_load(const clf_scheduler *scheduler);

/* Runs one pass. Cancelled requests leave. Waiting ones join if a place is free, and room for their keys and values. Each running request
 * is given its last token or the next piece of its prompt; those whose prompt is read get a token. A fault of a single request ends it as
 * CLF_FINISH_REFUSED: logits that are not finite, or no room although nothing else runs. A failure of the step concerns all: texts are
 * valid as far as they were reported, and the scheduler can only be destroyed. No-op if nothing runs or waits. */
clf_status clfi_scheduler_step(clf_scheduler *scheduler);

#endif
