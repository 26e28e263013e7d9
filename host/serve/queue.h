/* SPDX-License-Identifier: MIT */
/* The bounded queue between HTTP threads and workers. A job of rows stays in it until workers have begun all of its texts, and one that
 * writes texts until a worker takes it. */
#ifndef CLFI_SERVE_QUEUE_H
#define CLFI_SERVE_QUEUE_H

#include "serve/job.h"

typedef struct srv_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    srv_job *first, *last; /* jobs with work to take; linked by srv_job.next */
    size_t waiting;        /* jobs that no worker has begun */
    size_t running;        /* begun and not over */
    size_t most;           /* jobs of one model that may wait */
    size_t able;           /* workers whose device answers */
    bool is_closed;        /* workers end when they have nothing left */
} srv_queue;

void srv_queue_init(srv_queue *queue, size_t most);
void srv_queue_destroy(srv_queue *queue);

/* Appends the job, and takes a reference of its own. False: as many jobs of its model wait as may. The limit is per model, so that a model
 * with long work closes the server to no other. */
bool srv_queue_push(srv_queue *queue, srv_job *job);

void srv_queue_close(srv_queue *queue);
void srv_queue_wake(srv_queue *queue); /* workers look at their jobs again: one was cancelled */

/* Counts a worker whose device answers, for the first time or again. */
void srv_queue_join(srv_queue *queue);

/* Removes a worker whose device is lost. True: other workers remain and take over its jobs. False: it is the last one and is not
 * removed. */
bool srv_queue_leave(srv_queue *queue);

/* Waits for that time, or until the queue is closed. */
void srv_queue_pause(srv_queue *queue, unsigned seconds);

/* ---- With the lock held, by a worker ---- */

/* Takes the job out of the list; its reference is now the worker's. before: the job before it; NULL: it is the first. */
void srv_queue_unlink(srv_queue *queue, srv_job *job, srv_job *before);
void srv_queue_begin(srv_queue *queue, srv_job *job); /* counts the job as running and sets began_ns */

/* Puts the job back at the front of the list, with the worker's reference, for another worker. */
void srv_queue_return(srv_queue *queue, srv_job *job);

/* ---- Without the lock ---- */

/* Counts the end of a job. had_begun: it was running; else it was waiting. */
void srv_queue_end(srv_queue *queue, bool had_begun);

#endif
