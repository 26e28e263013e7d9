/* SPDX-License-Identifier: MIT */
/* Keeps the list of jobs, and counts those that wait and run. */
#include "serve/queue.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"

void srv_queue_init(srv_queue *queue, size_t most)
{
    *queue = (srv_queue){.most = most};
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->changed, NULL);
}

void srv_queue_destroy(srv_queue *queue)
{
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
}

/* Jobs of the model that no worker has begun; the lock is held. */
static size_t waiting_for(const srv_queue *queue, const srv_model *model)
{
    size_t count = 0;
    for (const srv_job *job = queue->first; job; job = job->next)
        count += job->model == model && job->began_ns == 0;
    return count;
}

bool srv_queue_push(srv_queue *queue, srv_job *job)
{
    pthread_mutex_lock(&queue->lock);
    if (queue->waiting >= queue->most && waiting_for(queue, job->model) >= queue->most) {
        pthread_mutex_unlock(&queue->lock);
        return false;
    }
    srv_job_hold(job);
    queue->waiting++;
    job->next = NULL;
    job->is_listed = true;
    if (queue->last)
        queue->last->next = job;
    else
        queue->first = job;
    queue->last = job;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    return true;
}

void srv_queue_close(srv_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->is_closed = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

void srv_queue_wake(srv_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

void srv_queue_join(srv_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->able++;
    pthread_mutex_unlock(&queue->lock);
}

bool srv_queue_leave(srv_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    const bool leaves = queue->able > 1;
    queue->able -= leaves;
    pthread_mutex_unlock(&queue->lock);
    return leaves;
}

void srv_queue_pause(srv_queue *queue, unsigned seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += seconds;
    pthread_mutex_lock(&queue->lock);
    while (!queue->is_closed && pthread_cond_timedwait(&queue->changed, &queue->lock, &until) != ETIMEDOUT) {
    }
    pthread_mutex_unlock(&queue->lock);
}

void srv_queue_unlink(srv_queue *queue, srv_job *job, srv_job *before)
{
    if (before)
        before->next = job->next;
    else
        queue->first = job->next;
    if (queue->last == job)
        queue->last = before;
    job->next = NULL;
}

void srv_queue_begin(srv_queue *queue, srv_job *job)
{
    job->began_ns = clfi_now_ns();
    queue->waiting--;
    queue->running++;
}

void srv_queue_return(srv_queue *queue, srv_job *job)
{
    job->next = queue->first;
    job->is_listed = true;
    queue->first = job;
    if (!queue->last)
        queue->last = job;
    pthread_cond_broadcast(&queue->changed);
}

void srv_queue_end(srv_queue *queue, bool had_begun)
{
    pthread_mutex_lock(&queue->lock);
    if (had_begun)
        queue->running--;
    else
        queue->waiting--;
    pthread_mutex_unlock(&queue->lock);
}
