/* SPDX-License-Identifier: MIT */
/* Creates jobs, passes their results on, and frees them. */
#include "serve/job.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "io/json.h"

clf_status srv_job_create(const srv_model *model, srv_job **out)
{
    srv_job *job;
    CLF_TRY(clfi_alloc(1, sizeof *job, "request", &job));
    pthread_mutex_init(&job->lock, NULL);
    atomic_init(&job->references, 1);
    atomic_init(&job->is_cancelled, false);
    job->model = model;
    job->came_ns = clfi_now_ns();
    *out = job;
    return CLF_OK;
}

void srv_job_hold(srv_job *job)
{
    atomic_fetch_add(&job->references, 1);
}

void srv_job_release(srv_job *job)
{
    if (!job || atomic_fetch_sub(&job->references, 1) > 1)
        return;
    for (size_t i = 0; i < job->rows.count; i++)
        free(job->rows.items[i].ids);
    free(job->rows.items);
    free(job->rows.rows);
    for (size_t i = 0; i < job->texts.count; i++) {
        free(job->texts.parts[i].ids);
        clfi_str_free(&job->texts.parts[i].text);
    }
    free(job->texts.parts);
    free(job->texts.stops);
    json_decref(job->body);
    pthread_mutex_destroy(&job->lock);
    free(job);
}

clf_status srv_job_set_items(srv_job *job, size_t count)
{
    CLF_TRY(clfi_alloc(count, sizeof *job->rows.items, "texts", &job->rows.items));
    job->rows.count = count;
    for (size_t i = 0; i < count; i++)
        job->rows.items[i].job = job;
    return CLF_OK;
}

clf_status srv_job_set_parts(srv_job *job, size_t count)
{
    CLF_TRY(clfi_alloc(count, sizeof *job->texts.parts, "texts", &job->texts.parts));
    job->texts.count = count;
    for (size_t i = 0; i < count; i++)
        job->texts.parts[i] = (srv_text_part){.job = job, .text = CLF_STR_INIT};
    return CLF_OK;
}

bool srv_job_is_rows(const srv_job *job)
{
    return job->rows.count > 0;
}

/* With the lock held. */
static void wake(srv_job *job)
{
    void (*function)(void *) = job->wake;
    job->wake = NULL;
    if (function)
        function(job->wake_user);
}

void srv_job_tell(srv_job *job)
{
    pthread_mutex_lock(&job->lock);
    if (job->is_stream)
        wake(job);
    pthread_mutex_unlock(&job->lock);
}

void srv_job_finish(srv_job *job, const srv_error *error)
{
    pthread_mutex_lock(&job->lock);
    if (job->state != SRV_JOB_DONE) {
        job->state = SRV_JOB_DONE;
        if (error)
            job->error = *error;
        wake(job);
    }
    pthread_mutex_unlock(&job->lock);
}

void srv_job_cancel(srv_job *job, const srv_error *error)
{
    atomic_store(&job->is_cancelled, true);
    if (error)
        srv_job_finish(job, error);
}
