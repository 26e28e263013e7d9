/* SPDX-License-Identifier: MIT */
/* Builds programs in threads that take them from one list. Only the calling thread changes the context's statistics and calls the user's
 * callbacks. */
#include "runtime/parallel_build.h"

#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/program_build.h"

enum { THREADS_MOST = 8 }; /* a compiler takes some hundred megabytes */

typedef struct job_list {
    const clf_context *context;
    clf_build_job *jobs;
    size_t count;
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t one_is_done;
    size_t taken, done, built;
} job_list;

static void *build_jobs(void *argument)
{
    job_list *list = argument;
    pthread_mutex_lock(&list->lock);
    while (list->taken < list->count) {
        clf_build_job *job = &list->jobs[list->taken++];
        pthread_mutex_unlock(&list->lock);
        job->program = clfi_program_try(list->context, job->spec, &job->source);
        pthread_mutex_lock(&list->lock);
        list->done++;
        list->built += job->program != NULL;
        pthread_cond_signal(&list->one_is_done);
    }
    pthread_mutex_unlock(&list->lock);
    return NULL;
}

static size_t start_threads(job_list *list, pthread_t threads[THREADS_MOST])
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t count = 0;
    while (count < THREADS_MOST && count < list->count && (long)count < processors &&
           pthread_create(&threads[count], NULL, build_jobs, list) == 0)
        count++;
    return count;
}

static void say(clf_context *context)
{
    if (context->on_build)
        context->on_build(context->on_build_user);
}

/* Waits until all jobs are done, and reports progress. */
static void watch(clf_context *context, job_list *list)
{
    const uint64_t before = context->stats.programs_built;
    for (size_t seen = 0; seen < list->count;) {
        say(context);
        pthread_mutex_lock(&list->lock);
        while (list->done == seen)
            pthread_cond_wait(&list->one_is_done, &list->lock);
        seen = list->done;
        context->stats.programs_built = before + list->built;
        pthread_mutex_unlock(&list->lock);
    }
}

void clfi_parallel_build(clf_context *context, clf_build_job *jobs, size_t count)
{
    const uint64_t start = clfi_now_ns();
    job_list list = {.context = context, .jobs = jobs, .count = count};
    pthread_t threads[THREADS_MOST];
    if (pthread_mutex_init(&list.lock, NULL) != 0)
        return;
    if (pthread_cond_init(&list.one_is_done, NULL) == 0) {
        const size_t started = start_threads(&list, threads);
        if (started > 0) /* else each program is built when its kernel is first needed */
            watch(context, &list);
        for (size_t i = 0; i < started; i++)
            pthread_join(threads[i], NULL);
        pthread_cond_destroy(&list.one_is_done);
        clfi_log(context, CLF_LOG_DEBUG, "built %zu of %zu programs in %zu threads in %.1f ms", list.built, count, started,
                 (double)(clfi_now_ns() - start) / 1e6);
    }
    pthread_mutex_destroy(&list.lock);
    context->stats.build_ns += clfi_now_ns() - start;
}
