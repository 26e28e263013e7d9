/* SPDX-License-Identifier: MIT */
/* Runs the thread of a device: loads models, does jobs, and handles the loss of the device. */
#include "serve/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "model/packing.h"
#include "runtime/arena.h"
#include "serve/rows_lane.h"
#include "serve/texts_lane.h"

enum { LOST_SECONDS = 10 /* until a lost device is tried again */ };

typedef struct worker_engine {
    clf_model *own; /* the model on this worker's device; NULL: srv_model.model is on it */
    clf_session *session;
    srv_rows_lanes *rows;  /* NULL: the model makes no rows */
    srv_texts_lane *texts; /* NULL: it writes no texts */
} worker_engine;

struct srv_worker {
    srv_worker_params params;
    pthread_t thread;
    worker_engine *engines; /* [models] */
    pthread_mutex_t lock;   /* guards what follows */
    srv_worker_state state;
    clf_status status;
    char reason[CLFI_REASON_BYTES];
    double device_bytes;
};

static void set_state(srv_worker *worker, srv_worker_state state, clf_status status)
{
    pthread_mutex_lock(&worker->lock);
    worker->state = state;
    worker->status = status;
    snprintf(worker->reason, sizeof worker->reason, "%s", status == CLF_OK ? "" : clf_last_error());
    pthread_mutex_unlock(&worker->lock);
}

static double held_bytes(const clf_context *context)
{
    clf_context_stats stats;
    clf_context_get_stats(context, &stats);
    return (double)stats.device_bytes + (double)stats.mapped_bytes;
}

static void note_memory(srv_worker *worker)
{
    const double bytes = held_bytes(worker->params.context);
    pthread_mutex_lock(&worker->lock);
    worker->device_bytes = bytes;
    pthread_mutex_unlock(&worker->lock);
}

/* ---- Loading ---- */

/* Logs a line, with the device's name if there are several devices. */
static void tell(const srv_worker *worker, const char *text)
{
    const srv_worker_params *p = &worker->params;
    char line[CLFI_REASON_BYTES + 256];
    snprintf(line, sizeof line, "%s%s%s", p->device ? p->device : "", p->device ? ": " : "", text);
    p->log(p->log_user, line);
}

/* Device memory of an engine: `held` bytes once it is loaded, which include keys and values of `rows` tokens. */
typedef struct engine_memory {
    double held, cache, passes;
    size_t rows;
} engine_memory;

static void tell_loaded(const srv_worker *worker, const srv_model *model, const engine_memory *memory, double load, double warm)
{
    char line[320], texts[80] = "";
    if (memory->rows)
        snprintf(texts, sizeof texts, ", keys and values of %zu tokens %.0f MB", memory->rows, memory->cache / 1e6);
    snprintf(line, sizeof line, "model %s: %s, loaded in %.1f s, warmed up in %.1f s; memory plan: weights %.0f MB, passes %.0f MB%s",
             model->id, srv_task_word(model->tasks), load, warm, (memory->held - memory->cache) / 1e6, memory->passes / 1e6, texts);
    tell(worker, line);
}

/* Any device may run a request, so the device with the least room limits the texts of all (model->room). */
static clf_status open_texts(const srv_worker *worker, srv_model *model, worker_engine *out, engine_memory *memory)
{
    const srv_worker_params *p = &worker->params;
    srv_texts_room room;
    CLF_TRY(srv_texts_plan(out->session, &p->limits, &room));
    if (model->room == 0 || room.rows < model->room)
        model->room = room.rows;
    memory->rows = room.rows;
    memory->cache = (double)room.rows * (double)clf_model_get_memory_plan(out->own ? out->own : model->model)->cache_bytes;
    return srv_texts_lane_create(model, out->session, p->queue, p->metrics, &room, p->device != NULL, &out->texts);
}

static clf_status open_engine(srv_worker *worker, srv_model *model, worker_engine *out)
{
    const srv_worker_params *p = &worker->params;
    const uint64_t start = clfi_now_ns();
    const double before = held_bytes(p->context);
    engine_memory memory = {.rows = 0};
    if (model->tasks)
        CLF_TRY(clf_model_open(p->context, model->path, &p->model_params, &out->own));
    else
        CLF_TRY(srv_model_load(model, p->context, &p->model_params));
    clf_model *opened = out->own ? out->own : model->model;
    CLF_TRY(clf_session_create(opened, p->context, &out->session));
    if (model->tasks & (SRV_TASK_EMBED | SRV_TASK_RERANK | SRV_TASK_PREDICT))
        CLF_TRY(srv_rows_lanes_create(model, out->session, p->queue, p->metrics, clfi_batch_tokens(p->context), &out->rows));
    if (model->tasks & SRV_TASK_COMPLETE)
        CLF_TRY(open_texts(worker, model, out, &memory));
    memory.passes = (double)clf_model_get_memory_plan(opened)->scratch_bytes;
    memory.held = held_bytes(p->context) - before;
    if (!out->own)
        model->planned_bytes = memory.held + memory.passes;
    clfi_arena_reserve(p->context, clf_model_get_memory_plan(opened)->scratch_bytes);
    const uint64_t loaded = clfi_now_ns();
    if (out->rows)
        CLF_TRY(srv_rows_lanes_warm(out->rows));
    if (out->texts)
        CLF_TRY(srv_texts_lane_warm(out->texts));
    tell_loaded(worker, model, &memory, (double)(loaded - start) * 1e-9, (double)(clfi_now_ns() - loaded) * 1e-9);
    return CLF_OK;
}

/* Opens all models. The first device that loads a model describes it for requests. */
static clf_status open_all(srv_worker *worker)
{
    const srv_models *models = worker->params.models;
    CLF_TRY(clfi_alloc(models->count, sizeof *worker->engines, "models", &worker->engines));
    for (size_t i = 0; i < models->count; i++) {
        const clf_status st = open_engine(worker, &models->items[i], &worker->engines[i]);
        if (st != CLF_OK)
            return clfi_fail_prefix(st, "model %s", models->items[i].id);
    }
    note_memory(worker);
    return CLF_OK;
}

static void close_all(srv_worker *worker)
{
    for (size_t i = 0; worker->engines && i < worker->params.models->count; i++) {
        worker_engine *e = &worker->engines[i];
        srv_rows_lanes_destroy(e->rows);
        srv_texts_lane_destroy(e->texts);
        clf_session_destroy(e->session);
        clf_model_destroy(e->own);
    }
    free(worker->engines);
}

/* ---- Work ---- */

/* Handles the loss of the device. Other workers take over its jobs while it pauses; if there are none, its jobs end with the status. */
static void lose(srv_worker *worker, clf_status status)
{
    const srv_worker_params *p = &worker->params;
    const bool has_others = srv_queue_leave(p->queue);
    for (size_t i = 0; i < p->models->count; i++) {
        if (worker->engines[i].rows)
            srv_rows_lanes_leave(worker->engines[i].rows, has_others, status);
        if (worker->engines[i].texts)
            srv_texts_lane_leave(worker->engines[i].texts, has_others, status);
    }
    if (!has_others)
        return;
    set_state(worker, SRV_WORKER_LOST, status);
    tell(worker, "the device is lost: other devices take over its requests");
    srv_queue_pause(p->queue, LOST_SECONDS);
    srv_queue_join(p->queue);
    set_state(worker, SRV_WORKER_READY, CLF_OK);
}

/* Logs the failure of a step, if it failed, and handles the loss of the device. */
static void look_after(srv_worker *worker, const srv_model *model, clf_status status)
{
    char line[CLFI_REASON_BYTES + 128];
    if (status == CLF_OK)
        return;
    snprintf(line, sizeof line, "model %s: %s", model->id, clf_last_error());
    tell(worker, line);
    if (srv_is_loss(status))
        lose(worker, status);
}

/* Runs a pass for each model that has work; false: none has. */
static bool work(srv_worker *worker)
{
    const srv_models *models = worker->params.models;
    bool any = false;
    for (size_t i = 0; i < models->count; i++) {
        worker_engine *e = &worker->engines[i];
        bool worked = false;
        if (e->rows)
            look_after(worker, &models->items[i], srv_rows_lanes_step(e->rows, &worked));
        any |= worked;
        worked = false;
        if (e->texts)
            look_after(worker, &models->items[i], srv_texts_lane_step(e->texts, &worked));
        any |= worked;
    }
    return any;
}

/* Waits for jobs. False: the queue is closed and empty. */
static bool wait_for_jobs(srv_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    while (!queue->first && !queue->is_closed)
        pthread_cond_wait(&queue->changed, &queue->lock);
    const bool goes_on = queue->first != NULL;
    pthread_mutex_unlock(&queue->lock);
    return goes_on;
}

static clf_status load(srv_worker *worker)
{
    const srv_worker_params *p = &worker->params;
    pthread_mutex_lock(p->loading);
    const clf_status st = open_all(worker);
    pthread_mutex_unlock(p->loading);
    if (st != CLF_OK && p->device) {
        char line[CLFI_REASON_BYTES + 128];
        snprintf(line, sizeof line, "%s; the device is left out", clf_last_error());
        tell(worker, line);
    }
    return st;
}

static void *run(void *user)
{
    srv_worker *worker = user;
    const clf_status st = load(worker);
    if (st == CLF_OK)
        srv_queue_join(worker->params.queue);
    set_state(worker, st == CLF_OK ? SRV_WORKER_READY : SRV_WORKER_FAILED, st);
    while (st == CLF_OK && wait_for_jobs(worker->params.queue)) {
        while (work(worker)) {
        }
        note_memory(worker);
    }
    close_all(worker);
    return NULL;
}

clf_status srv_worker_start(const srv_worker_params *params, srv_worker **out)
{
    srv_worker *worker;
    CLF_TRY(clfi_alloc(1, sizeof *worker, "worker", &worker));
    worker->params = *params;
    pthread_mutex_init(&worker->lock, NULL);
    const int fault = pthread_create(&worker->thread, NULL, run, worker);
    if (fault != 0) {
        pthread_mutex_destroy(&worker->lock);
        free(worker);
        CLF_FAIL(CLF_IO, "serve: cannot start a device's thread: %s", strerror(fault));
    }
    *out = worker;
    return CLF_OK;
}

srv_worker_state srv_worker_get_state(srv_worker *worker, clf_status *out_status, const char **out_reason)
{
    pthread_mutex_lock(&worker->lock);
    const srv_worker_state state = worker->state;
    if (out_status)
        *out_status = worker->status;
    if (out_reason)
        *out_reason = worker->reason;
    pthread_mutex_unlock(&worker->lock);
    return state;
}

double srv_worker_device_bytes(srv_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    const double bytes = worker->device_bytes;
    pthread_mutex_unlock(&worker->lock);
    return bytes;
}

void srv_worker_join(srv_worker *worker)
{
    if (!worker)
        return;
    pthread_join(worker->thread, NULL);
    pthread_mutex_destroy(&worker->lock);
    free(worker);
}
