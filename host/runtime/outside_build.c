/* SPDX-License-Identifier: MIT */
/* Hands programs to compiling processes and watches these. */
#include "runtime/outside_build.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "runtime/compiler_pool.h"
#include "runtime/driver_lock.h"
#include "runtime/program_build.h"
#include "runtime/program_cache.h"
#include "runtime/shared.h"
#include "runtime/unusable.h"

enum {
    STARTS_MOST = 2,
    LOOK_MS = 200,
    KEPT = 2 /* processes that stay when all is built, because the first pass over texts follows soon after the packing of weights */
};

typedef struct job_queue {
    clf_context *context;
    clf_compiler_pool *pool;
    clf_build_job *jobs;
    size_t count, next, done, built;
    clf_build_job *of[CLFI_COMPILERS_MOST];    /* the job of each process; NULL: none */
    clf_build_job *again[CLFI_COMPILERS_MOST]; /* jobs to be started once more */
    size_t again_count;
    bool was_idle[CLFI_COMPILERS_MOST]; /* the process waited since an earlier batch and may have ended; it has not replied yet */
} job_queue;

void clfi_build_job_clear(clf_build_job *job)
{
    clfi_str_free(&job->source);
    clfi_str_free(&job->reason);
    clfi_str_free(&job->request);
}

bool clfi_outside_build_is_possible(const clf_context *context)
{
    const clf_shared *shared = context->shared;
    return shared->cache && shared->compilers && !shared->compilers->is_off && !context->build_number;
}

static clf_status put_text(clf_str *request, const char *text)
{
    return clfi_compile_put(request, text, strlen(text));
}

static clf_status put_texts(const clf_context *context, clf_build_job *job)
{
    clf_program_texts texts;
    clf_status st = clfi_program_texts(context, job->spec, &job->source, &texts);
    for (size_t i = 0; st == CLF_OK && i < texts.count; i++) {
        st = clfi_compile_put(&job->request, clfi_str_text(&texts.list[i].options), texts.list[i].options.length);
        if (st == CLF_OK)
            st = clfi_compile_put(&job->request, clfi_str_text(&texts.list[i].source), texts.list[i].source.length);
    }
    clfi_program_texts_free(&texts);
    return st;
}

/* Writes the texts of a request, in the order in which host/compiler reads them. */
static clf_status write_request(const clf_context *context, clf_build_job *job)
{
    const clf_device_info *info = &context->device.info;
    const size_t *local = job->spec->local;
    char index[24], size[80] = "", probe[16] = "";
    snprintf(index, sizeof index, "%zu", info->index);
    if (local[0])
        snprintf(size, sizeof size, "%zu-%zu-%zu", local[0], local[1], local[2]);
    if (job->probe)
        snprintf(probe, sizeof probe, "%d", job->probe);
    const char *const texts[] = {
        info->platform_name, info->name, info->device_version, info->driver_version, index, context->shared->cache->path, job->key,
        job->spec->kernel,   size,       probe};
    for (size_t i = 0; i < COUNT(texts); i++)
        CLF_TRY(put_text(&job->request, texts[i]));
    if (!job->probe)
        CLF_TRY(put_texts(context, job));
    if (job->request.length > CLFI_COMPILE_REQUEST_BYTES)
        CLF_FAIL(CLF_UNSUPPORTED, "kernel %s: its source is longer than %d bytes", job->spec->kernel, CLFI_COMPILE_REQUEST_BYTES);
    return CLF_OK;
}

static void switch_off(job_queue *queue, const char *reason)
{
    if (!queue->pool->is_off)
        clfi_log(queue->context, CLF_LOG_INFO, "%s: %s; kernels are compiled in this process", queue->pool->path, reason);
    queue->pool->is_off = true;
}

static void say(const job_queue *queue)
{
    if (queue->done < queue->count && queue->context->on_build)
        queue->context->on_build(queue->context->on_build_user);
}

static void finish(job_queue *queue, size_t at)
{
    queue->of[at] = NULL;
    queue->done++;
    say(queue);
}

/* Names what failed when the process of this job ended, for the message. */
static const char *culprit(const clf_build_job *job)
{
    return job->probe ? "the process that ran it" : "the driver's compiler";
}

/* Handles a process that ended, took too long, or sent no valid message. */
static void lose(job_queue *queue, size_t at, clf_compile_state state)
{
    char how[CLFI_CHILD_WORDS];
    clf_build_job *job = queue->of[at];
    clf_compiler *compiler = &queue->pool->list[at];
    clf_compile_word word;
    const char *text;
    if (!compiler->is_ready && state == CLFI_COMPILE_GONE)
        clfi_compiler_look(compiler, &word, &text); /* its greeting may have come before it ended */
    const bool was_ready = compiler->is_ready;
    const bool is_fault = clfi_compiler_stop(compiler, how);
    queue->of[at] = NULL;
    job->starts -= queue->was_idle[at] && state == CLFI_COMPILE_GONE;
    queue->was_idle[at] = false;
    if (!was_ready || state == CLFI_COMPILE_BROKEN) {
        switch_off(queue, state == CLFI_COMPILE_BROKEN ? "its version differs, or it sent an invalid message" : how);
    } else if (state == CLFI_COMPILE_GONE && job->starts < STARTS_MOST) { /* perhaps it lacked memory */
        queue->again[queue->again_count++] = job;
        return;
    } else if (state == CLFI_COMPILE_LATE) {
        (void)!clfi_str_appendf(&job->reason, "%s took longer than %g s", culprit(job), queue->pool->seconds);
    } else {
        (void)!clfi_str_appendf(&job->reason, "%s %s", culprit(job), how);
    }
    if (job->reason.length > 0 && (is_fault || state == CLFI_COMPILE_LATE))
        clfi_unusable_keep(queue->context, job->key, job->reason.data);
    finish(queue, at);
}

/* Handles a reply: the binary exists now, or cannot be made. */
static void take_reply(job_queue *queue, size_t at, clf_compile_word word, const char *text)
{
    clf_build_job *job = queue->of[at];
    clf_context *context = queue->context;
    queue->was_idle[at] = false;
    if (word == CLFI_COMPILE_DONE && !job->probe) {
        clfi_driver_lock(context->device.caps.serial_compiler);
        job->program = clfi_program_cache_load(context, job->spec->kernel, job->key);
        clfi_driver_unlock(context->device.caps.serial_compiler);
        queue->built += job->program != NULL;
        context->stats.programs_built += job->program != NULL;
        if (!job->program)
            switch_off(queue, "its binaries cannot be loaded");
    } else if (word == CLFI_COMPILE_USELESS && queue->pool->list[at].is_known) { /* a new one may see other devices */
        clfi_compiler_stop(&queue->pool->list[at], NULL);
        queue->again[queue->again_count++] = job;
        queue->of[at] = NULL;
        return;
    } else if (word == CLFI_COMPILE_USELESS) {
        switch_off(queue, text);
    } else if (word == CLFI_COMPILE_REJECTED) {
        clfi_log(context, CLF_LOG_DEBUG, "%s", text);
    }
    finish(queue, at);
}

/* Gives process `at` its next job. Starts the process if it does not run. */
static void begin(job_queue *queue, size_t at)
{
    clf_compiler *compiler = &queue->pool->list[at];
    clf_build_job *job = queue->again_count > 0 ? queue->again[--queue->again_count] : &queue->jobs[queue->next++];
    queue->of[at] = job;
    job->starts++;
    clf_status st = job->request.length ? CLF_OK : write_request(queue->context, job);
    if (st == CLF_OK && !compiler->child.process) {
        st = clfi_compiler_pool_start(queue->pool, at);
        if (st != CLF_OK)
            switch_off(queue, clf_last_error());
        queue->was_idle[at] = compiler->is_known;
    }
    if (st != CLF_OK)
        finish(queue, at);
    else if (!clfi_compiler_ask(compiler, &job->request, queue->pool->seconds))
        lose(queue, at, CLFI_COMPILE_GONE);
}

static bool has_work(const job_queue *queue)
{
    return !queue->pool->is_off && (queue->next < queue->count || queue->again_count > 0);
}

static void look_at(job_queue *queue, size_t at)
{
    clf_compile_word word;
    const char *text;
    const clf_compile_state state = clfi_compiler_look(&queue->pool->list[at], &word, &text);
    if (state == CLFI_COMPILE_REPLIED)
        take_reply(queue, at, word, text);
    else if (state != CLFI_COMPILE_RUNS)
        lose(queue, at, state);
}

/* Waits until a process sends something, or for a short time. */
static void wait_for_any(const job_queue *queue, size_t room)
{
    struct pollfd sockets[CLFI_COMPILERS_MOST];
    nfds_t count = 0;
    for (size_t i = 0; i < room; i++)
        if (queue->of[i])
            sockets[count++] = (struct pollfd){queue->pool->list[i].child.socket, POLLIN, 0};
    poll(sockets, count, LOOK_MS);
}

static bool is_busy(const job_queue *queue, size_t room)
{
    for (size_t i = 0; i < room; i++)
        if (queue->of[i])
            return true;
    return false;
}

void clfi_outside_build(clf_context *context, clf_build_job *jobs, size_t count)
{
    const uint64_t start = clfi_now_ns();
    job_queue queue = {.context = context, .pool = context->shared->compilers, .jobs = jobs, .count = count};
    const size_t room = clfi_compiler_pool_room();
    for (size_t i = 0; i < room; i++)
        queue.was_idle[i] = queue.pool->list[i].child.process != 0;
    say(&queue);
    do {
        for (size_t i = 0; i < room; i++)
            if (!queue.of[i] && has_work(&queue))
                begin(&queue, i);
        wait_for_any(&queue, room);
        for (size_t i = 0; i < room; i++)
            if (queue.of[i])
                look_at(&queue, i);
    } while (is_busy(&queue, room) || has_work(&queue));
    clfi_compiler_pool_trim(queue.pool, queue.pool->is_off ? 0 : KEPT);
    clfi_log(context, CLF_LOG_DEBUG, "built %zu of %zu programs in other processes in %.1f ms", queue.built, count,
             (double)(clfi_now_ns() - start) / 1e6);
    context->stats.build_ns += clfi_now_ns() - start;
}
