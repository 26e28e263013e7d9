/* SPDX-License-Identifier: MIT */
/* The bounded queue between HTTP threads and workers. Jobs stay in it until a worker has begun all of their texts. */
#ifndef CLFI_SERVE_QUEUE_H
#define CLFI_SERVE_QUEUE_H

#include "serve/job.h"

typedef struct srv_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    srv_job *first, *last; /* those that are not wholly begun */
    size_t waiting;        /* jobs that no worker has begun, reserved places among them */
    size_t running;        /* begun and not over */
    size_t most;           /* jobs that may wait */
    size_t able;           /* workers whose device answers */
    bool is_closed;        /* workers end when they have nothing left */
} srv_queue;

void srv_queue_init(srv_queue *queue, size_t most);
void srv_queue_destroy(srv_queue *queue);

/* A place for one job, which srv_queue_push then fills; false: as many wait as may. */
bool srv_queue_reserve(srv_queue *queue);
void srv_queue_push(srv_queue *queue, srv_job *job); /* takes a reference of its own */

void srv_queue_close(srv_queue *queue);
void srv_queue_wake(srv_queue *queue); /* workers look at their jobs again: one was cancelled */

/* A worker's device answers, for the first time or again. */
void srv_queue_join(srv_queue *queue);

/* A worker's device is lost. True: others are there, which take over its jobs. False: it is the last one and stays. */
bool srv_queue_leave(srv_queue *queue);

/* Waits so long, or until the queue is closed. */
void srv_queue_pause(srv_queue *queue, unsigned seconds);

/* ---- With the lock held, by a worker ---- */

/* Takes the job out of the list; its reference is now the worker's. before: the one before it, NULL: it is the first. */
void srv_queue_unlink(srv_queue *queue, srv_job *job, srv_job *before);
void srv_queue_begin(srv_queue *queue, srv_job *job); /* it no longer waits */

/* The job, with the worker's reference, is the first in the list again and goes to another worker. */
void srv_queue_return(srv_queue *queue, srv_job *job);

/* ---- Without the lock ---- */

/* A job that began is over, or one that waited leaves. */
void srv_queue_end(srv_queue *queue, bool had_begun);

#endif
