/* SPDX-License-Identifier: MIT */
/* A job: the work that a request needs from a device. An HTTP thread makes the job, a worker does it, and an HTTP thread sends the answer.
 * Both sides hold a reference. The worker wakes the request by a function that the HTTP side sets (wake). */
#ifndef CLFI_SERVE_JOB_H
#define CLFI_SERVE_JOB_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/str.h"
#include "clformer/chat.h"
#include "serve/models.h"

typedef struct srv_job srv_job;

/* A text, a pair of texts or a list of token ids, which becomes one row of numbers. */
typedef struct srv_item {
    srv_job *job;
    int32_t *ids; /* [2][count]: ids, then types; owned */
    size_t count; /* tokens */
    bool is_back; /* it waits for another pass, because its device was lost; guarded by the queue's lock */
} srv_item;

/* How rows are made. A pass has items of one kind. */
typedef struct srv_row_kind {
    srv_task task;           /* EMBED, RERANK or PREDICT */
    const char *prompt_name; /* of EMBED: the prompt that the ids begin with; NULL: none; borrowed from the model */
    bool is_raw;             /* of EMBED: not normalised, even if the model's settings ask for it */
} srv_row_kind;

typedef struct srv_rows {
    srv_row_kind kind;
    srv_item *items;             /* [count] */
    float *rows;                 /* [count, width] */
    size_t count, width, tokens; /* tokens: of all items */
    size_t next;                 /* first item that was in no pass yet; guarded by the queue's lock, like the members below */
    size_t back;                 /* items with is_back */
    size_t given, done; /* given: items that are or were in a pass, without those that are back; done: those with a row or an error */
} srv_rows;

/* One text that a language model writes. */
typedef struct srv_text_part {
    srv_job *job;
    int32_t *ids; /* [id_count]: the prompt; owned */
    size_t id_count;
    clf_str text;         /* all of it; of a stream the part that was not sent yet */
    size_t tokens;        /* of the text */
    clf_finish finish;    /* NONE: it is being written */
    clf_request *request; /* owned by the worker; NULL: none yet, or ended */
} srv_text_part;

typedef struct srv_texts {
    srv_text_part *parts; /* [count] */
    size_t count;
    size_t started, running; /* the worker's: parts before `started` were given to its scheduler, which has `running` of them */
    uint64_t turn_ns;        /* when the last one was given to it */
    int32_t end_of_turn;     /* a token that ends the texts, in addition to the model's; -1: none */
    clf_generate_params params;
    clf_text *stops; /* [params.stop_count], owned; the same as params.stops */
} srv_texts;

typedef enum srv_job_state { SRV_JOB_WAITING, SRV_JOB_DONE } srv_job_state;

struct srv_job {
    atomic_int references;
    pthread_mutex_t lock; /* guards all that both sides change: state, error, parts' texts and the waker */
    srv_job_state state;
    atomic_bool is_cancelled; /* workers drop it at their next step: its client left, its time was up, or one of its texts failed */
    srv_error error;          /* why a DONE job failed; fault NONE: it succeeded */
    const srv_model *model;
    json_t *body; /* the request's; texts are borrowed from it; NULL: none */
    bool is_stream;
    bool is_listed;                       /* it is in the queue's list; guarded by the queue's lock */
    uint64_t came_ns, began_ns, first_ns; /* began: its first pass, first: its first token; 0: not yet */
    void (*wake)(void *user);             /* wakes the waiting request; called once, with the lock held. NULL: the request does not wait */
    void *wake_user;
    srv_rows rows;
    srv_texts texts;
    srv_job *next; /* in the queue, or among a worker's */
};

/* *out: has one reference; the model is borrowed. OUT_OF_MEMORY. */
clf_status srv_job_create(const srv_model *model, srv_job **out);
void srv_job_hold(srv_job *job);
void srv_job_release(srv_job *job); /* NULL is a no-op */

/* Room for `count` items or parts. OUT_OF_MEMORY. */
clf_status srv_job_set_items(srv_job *job, size_t count);
clf_status srv_job_set_parts(srv_job *job, size_t count);

/* True: the job makes rows; false: it writes texts. */
bool srv_job_is_rows(const srv_job *job);

/* Wakes the request of a stream, so that it sends what is new. Other jobs stay as they are. */
void srv_job_tell(srv_job *job);

/* Ends the job and wakes its request. error NULL: success. A job that has ended keeps its result. */
void srv_job_finish(srv_job *job, const srv_error *error);

/* Marks the job as cancelled: its worker drops it at its next step. error: ends the job for its request at once; NULL: nobody waits. */
void srv_job_cancel(srv_job *job, const srv_error *error);

#endif
