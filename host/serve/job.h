/* SPDX-License-Identifier: MIT */
/* A job: what a request asks a device for, made by an HTTP thread, done by a worker, and answered by an HTTP thread again. Both hold a
 * reference. A worker that has something to tell wakes the request by a function that the HTTP side gives. */
#ifndef CLFI_SERVE_JOB_H
#define CLFI_SERVE_JOB_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/str.h"
#include "clformer/chat.h"
#include "serve/models.h"

typedef struct srv_job srv_job;

/* Texts (or pairs, or token ids) that become one row of numbers each. */
typedef struct srv_item {
    srv_job *job;
    int32_t *ids; /* [2][count]: ids, then types; owned */
    size_t count;
    bool is_back; /* the device of its pass was lost; guarded by the queue */
} srv_item;

/* How rows are made: what differs runs in different passes. */
typedef struct srv_row_kind {
    srv_task task;           /* EMBED, RERANK or PREDICT */
    const char *prompt_name; /* of EMBED: the prompt that the ids begin with; NULL: none; borrowed from the model */
    bool is_raw;             /* of EMBED: not normalised, also where the model does */
} srv_row_kind;

typedef struct srv_rows {
    srv_row_kind kind;
    srv_item *items; /* [count] */
    float *rows;     /* [count, width] */
    size_t count, width, tokens;
    size_t next;        /* items from here on were in no pass yet; guarded by the queue, as what follows */
    size_t back;        /* those that wait for another pass, because the device of theirs was lost */
    size_t given, done; /* items that a pass has, or had */
} srv_rows;

/* One text that a language model writes. */
typedef struct srv_text_part {
    srv_job *job;
    int32_t *ids; /* [id_count]: the prompt; owned */
    size_t id_count;
    clf_str text;         /* all of it, or of a stream what was not sent yet */
    size_t tokens;        /* of the text */
    clf_finish finish;    /* NONE: it is being written */
    clf_request *request; /* the worker's */
} srv_text_part;

typedef struct srv_texts {
    srv_text_part *parts; /* [count] */
    size_t count, ended;
    int32_t end_of_turn; /* a token that ends the texts beside those of the model; -1: none */
    clf_generate_params params;
    clf_text *stops; /* owned; of params */
} srv_texts;

typedef enum srv_job_state { SRV_JOB_WAITING, SRV_JOB_RUNNING, SRV_JOB_DONE } srv_job_state;

struct srv_job {
    atomic_int references;
    pthread_mutex_t lock; /* guards all that both sides change: state, error, parts' texts and the waker */
    srv_job_state state;
    atomic_bool is_cancelled;
    srv_error error; /* of a job that is DONE: NONE where it went well */
    const srv_model *model;
    json_t *body; /* the request's; texts are borrowed from it; NULL: none */
    bool is_stream;
    bool is_listed; /* it is in the queue, which guards this */
    uint64_t came_ns, began_ns, first_ns, deadline_ns;
    void (*wake)(void *user); /* called with the lock held, once: the request waits. NULL: it does not */
    void *wake_user;
    srv_rows rows;
    srv_texts texts;
    srv_job *next; /* in the queue, or among a worker's */
};

/* *out: with one reference. OUT_OF_MEMORY. */
clf_status srv_job_create(const srv_model *model, srv_job **out);
void srv_job_hold(srv_job *job);
void srv_job_release(srv_job *job); /* NULL is a no-op */

/* Room for `count` items or parts. OUT_OF_MEMORY. */
clf_status srv_job_set_items(srv_job *job, size_t count);
clf_status srv_job_set_parts(srv_job *job, size_t count);

bool srv_job_is_rows(const srv_job *job);

/* The next two are a worker's. Something can be sent; the job is over, error NULL: well. */
void srv_job_tell(srv_job *job);
void srv_job_finish(srv_job *job, const srv_error *error);

/* Nobody waits for the answer, or no longer: it ends at the worker's next step. error NULL: the client has left. */
void srv_job_cancel(srv_job *job, const srv_error *error);

#endif
