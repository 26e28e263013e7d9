/* SPDX-License-Identifier: MIT */
/* Runs steps of generation for jobs. */
#include "serve/texts_lane.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "model/decode_batch.h"
#include "model/generation.h"
#include "model/scheduler.h"
#include "model/session.h"

struct srv_texts_lane {
    const srv_model *model;
    clf_session *session;
    srv_queue *queue;
    srv_metrics *metrics;
    srv_texts_room room;
    bool is_shared;
    bool is_warm;             /* srv_texts_lane_warm was called */
    uint64_t shared;          /* the scheduler's prompt tokens with kept keys and values, as counted so far */
    clf_scheduler *scheduler; /* NULL: a step has failed; the next step makes a scheduler */
    srv_job *running;         /* begun jobs, linked by srv_job.next; that with the longest wait for a turn first */
};

enum { TOKENS_OF_PLACE = 512, MOST_CONTEXT = 16384 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

clf_status srv_texts_plan(clf_session *session, const srv_texts_limits *limits, srv_texts_room *out)
{
    const clf_memory_plan *plan = clf_model_get_memory_plan(session->model);
    srv_texts_room room = {.places = limits->places ? limits->places : CLFI_BATCH_SEQUENCES};
    const size_t positions = (size_t)plan->positions, shares = room.places * TOKENS_OF_PLACE, one = least(positions, MOST_CONTEXT);
    if (positions > 0) {
        const size_t usual = least(least(shares > one ? shares : one, room.places * positions), (size_t)plan->room);
        room.rows = limits->tokens ? limits->tokens : usual;
        CLF_TRY(clfi_generation_fits(session, room.places, room.rows));
        room.kept_rows =
            limits->prefix_bytes == SIZE_MAX ? room.rows / 2 : least(limits->prefix_bytes / (size_t)plan->cache_bytes, room.rows);
    }
    *out = room;
    return CLF_OK;
}

static clf_status make_scheduler(srv_texts_lane *lane)
{
    const clf_scheduler_params params = {.places = lane->room.places, .cache_rows = lane->room.rows, .kept_rows = lane->room.kept_rows};
    clf_status st;
    lane->shared = 0;
    do
        st = clfi_scheduler_create(lane->session, &params, &lane->scheduler);
    while (clfi_session_recover(lane->session, &st));
    return st == CLF_OK && lane->is_warm ? srv_texts_lane_warm(lane) : st;
}

clf_status srv_texts_lane_warm(srv_texts_lane *lane)
{
    lane->is_warm = true;
    return clfi_scheduler_warm(lane->scheduler);
}

clf_status srv_texts_lane_create(const srv_model *model, clf_session *session, srv_queue *queue, srv_metrics *metrics,
                                 const srv_texts_room *room, bool is_shared, srv_texts_lane **out)
{
    srv_texts_lane *lane;
    CLF_TRY(clfi_alloc(1, sizeof *lane, "texts", &lane));
    *lane = (srv_texts_lane){.model = model, .session = session, .queue = queue, .metrics = metrics, .room = *room, .is_shared = is_shared};
    const clf_status st = make_scheduler(lane);
    if (st == CLF_OK)
        *out = lane;
    else
        free(lane);
    return st;
}

/* Ends a job and releases the worker's reference. error NULL: success. */
static void end_job(srv_texts_lane *lane, srv_job *job, const srv_error *error)
{
    for (size_t i = 0; i < job->texts.count; i++) {
        clf_request_destroy(job->texts.parts[i].request);
        job->texts.parts[i].request = NULL;
    }
    srv_job_finish(job, error);
    srv_queue_end(lane->queue, job->began_ns != 0);
    srv_job_release(job);
}

/* Fails all running requests and drops their scheduler. */
static void fail_running(srv_texts_lane *lane, clf_status status)
{
    srv_error error;
    srv_job *next;
    srv_refuse_status(&error, status, NULL);
    if (error.fault == SRV_FAULT_INVALID)
        error.fault = SRV_FAULT_BACKEND;
    clfi_scheduler_destroy(lane->scheduler);
    lane->scheduler = NULL;
    for (srv_job *job = lane->running; job; job = next) {
        next = job->next;
        end_job(lane, job, &error);
    }
    lane->running = NULL;
}

void srv_texts_lane_destroy(srv_texts_lane *lane)
{
    if (!lane)
        return;
    fail_running(lane, clfi_fail(CLF_CANCELLED, "the server is shutting down"));
    free(lane);
}

/* ---- Steps of a text ---- */

/* A clf_generate_callback; user is a srv_text_part. */
static int on_token(void *user, const clf_generated *step)
{
    srv_text_part *part = user;
    srv_job *job = part->job;
    clf_status st;
    pthread_mutex_lock(&job->lock);
    if (job->first_ns == 0 && step->token >= 0)
        job->first_ns = clfi_now_ns();
    st = clfi_str_append(&part->text, step->text.data, step->text.size);
    part->tokens += step->token >= 0;
    if (step->finish != CLF_FINISH_NONE) {
        part->finish = step->finish;
        job->texts.running--;
    }
    pthread_mutex_unlock(&job->lock);
    if (st == CLF_OK && step->text.size)
        srv_job_tell(job);
    return st != CLF_OK || atomic_load(&job->is_cancelled);
}

/* ---- Joining ---- */

static clf_status add_request(srv_texts_lane *lane, srv_job *job, clf_request *request)
{
    CLF_TRY(clfi_scheduler_add(lane->scheduler, request));
    job->texts.running++;
    return CLF_OK;
}

static clf_status start_part(srv_texts_lane *lane, srv_job *job, size_t index)
{
    srv_text_part *part = &job->texts.parts[index];
    const clf_prompt prompt = {.ids = part->ids, .id_count = part->id_count};
    clf_generate_params params = job->texts.params;
    if (part->request) { /* from a device that was lost */
        if (part->finish != CLF_FINISH_NONE)
            return CLF_OK;
        CLF_TRY(clfi_request_move(part->request, lane->session));
        return add_request(lane, job, part->request);
    }
    params.seed += index;
    if (lane->room.rows)
        params.max_tokens = least(params.max_tokens, lane->room.rows - least(part->id_count, lane->room.rows - 1));
    CLF_TRY(clfi_request_create(lane->session, &params, &prompt, index, on_token, part, &part->request));
    part->request->end_of_turn = job->texts.end_of_turn;
    srv_count(lane->metrics, SRV_COUNTER_INPUT_TOKENS, part->id_count);
    return add_request(lane, job, part->request);
}

/* Starts the next text of a job. If it cannot start, the job keeps the error and is cancelled; it ends when its started texts have
 * ended. */
static void start_next(srv_texts_lane *lane, srv_job *job)
{
    const clf_status st = start_part(lane, job, job->texts.started);
    if (st == CLF_OK) {
        job->texts.started++;
        return;
    }
    pthread_mutex_lock(&job->lock);
    srv_refuse_status(&job->error, st, NULL);
    pthread_mutex_unlock(&job->lock);
    atomic_store(&job->is_cancelled, true);
}

/* Takes the model's next waiting job that came before that time from the queue, or a cancelled one. NULL: none. */
static srv_job *take_job(srv_texts_lane *lane, uint64_t before_ns)
{
    srv_job *before = NULL, *job;
    pthread_mutex_lock(&lane->queue->lock);
    for (job = lane->queue->first; job; before = job, job = job->next)
        if (!srv_job_is_rows(job) && job->model == lane->model && (job->came_ns < before_ns || atomic_load(&job->is_cancelled)))
            break;
    if (job) {
        srv_queue_unlink(lane->queue, job, before);
        job->is_listed = false;
        if (!atomic_load(&job->is_cancelled)) {
            srv_queue_begin(lane->queue, job);
            srv_observe(lane->metrics, SRV_HISTOGRAM_WAIT, (double)(job->began_ns - job->came_ns) * 1e-9);
        }
    }
    pthread_mutex_unlock(&lane->queue->lock);
    return job;
}

/* The link to the running job that has texts to start and waits longest for its turn; *link NULL: there is none. */
static srv_job **find_unstarted(srv_texts_lane *lane)
{
    srv_job **at = &lane->running;
    while (*at && ((*at)->texts.started == (*at)->texts.count || atomic_load(&(*at)->is_cancelled)))
        at = &(*at)->next;
    return at;
}

/* Appends the job to the running ones, and starts its next text. */
static void give_turn(srv_texts_lane *lane, srv_job *job)
{
    srv_job **end = &lane->running;
    while (*end)
        end = &(*end)->next;
    *end = job;
    job->next = NULL;
    job->texts.turn_ns = clfi_now_ns();
    start_next(lane, job);
}

/* Fills the free places with texts. Jobs take turns: one with many texts gives one to the scheduler, then waits behind the jobs that came
 * meanwhile. */
static void take_jobs(srv_texts_lane *lane)
{
    bool may_take = true;
    for (;;) {
        const bool has_place = clfi_scheduler_load(lane->scheduler) < lane->room.places;
        srv_job **at = find_unstarted(lane), *started = has_place ? *at : NULL;
        const uint64_t before_ns = !may_take || !has_place ? 0 : started ? started->texts.turn_ns : UINT64_MAX;
        srv_job *job = take_job(lane, before_ns);
        if (job && !job->began_ns) {
            end_job(lane, job, NULL); /* it was cancelled */
        } else if (job) {
            give_turn(lane, job);
            may_take = !lane->is_shared;
        } else if (started) {
            *at = started->next;
            give_turn(lane, started);
        } else {
            return;
        }
    }
}

/* Fails all waiting jobs of the model, because it has no scheduler. Returns the status. */
static clf_status refuse_waiting(srv_texts_lane *lane, clf_status status)
{
    srv_error error;
    srv_job *job;
    srv_refuse_status(&error, status, NULL);
    while ((job = take_job(lane, UINT64_MAX)))
        end_job(lane, job, &error);
    return status;
}

/* ---- Leaving ---- */

static void cancel_requests(const srv_texts_lane *lane)
{
    for (const srv_job *job = lane->running; job; job = job->next)
        for (size_t i = 0; i < job->texts.count && atomic_load(&job->is_cancelled); i++)
            clf_request_cancel(job->texts.parts[i].request);
}

/* Returns the running jobs to the queue for another worker, that with the longest wait for a turn first. Their requests keep their
 * texts. */
static void return_running(srv_texts_lane *lane)
{
    srv_job *reversed = NULL, *next;
    clfi_scheduler_destroy(lane->scheduler);
    lane->scheduler = NULL;
    for (srv_job *job = lane->running; job; job = next) {
        next = job->next;
        job->next = reversed;
        reversed = job;
    }
    pthread_mutex_lock(&lane->queue->lock);
    for (srv_job *job = reversed; job; job = next) {
        next = job->next;
        job->began_ns = 0;
        job->texts.started = job->texts.running = 0;
        lane->queue->running--;
        lane->queue->waiting++;
        srv_queue_return(lane->queue, job);
    }
    pthread_mutex_unlock(&lane->queue->lock);
    lane->running = NULL;
}

void srv_texts_lane_leave(srv_texts_lane *lane, bool has_others, clf_status status)
{
    if (has_others)
        return_running(lane);
    else if (lane->scheduler)
        fail_running(lane, status);
    else
        refuse_waiting(lane, status);
}

/* Why the job failed: its own error, or that of its first refused text. NULL: it did not. */
static const srv_error *fault_of(const srv_job *job, srv_error *error)
{
    if (job->error.fault != SRV_FAULT_NONE)
        return &job->error;
    for (size_t i = 0; i < job->texts.count; i++) {
        const clf_request *request = job->texts.parts[i].request;
        if (request && request->finish == CLF_FINISH_REFUSED) {
            srv_refuse(error, request->status == CLF_OUT_OF_MEMORY ? SRV_FAULT_INVALID : SRV_FAULT_BACKEND, NULL, "%s", request->reason);
            return error;
        }
    }
    return NULL;
}

static void count_job(const srv_texts_lane *lane, const srv_job *job)
{
    size_t tokens = 0;
    for (size_t i = 0; i < job->texts.count; i++)
        tokens += job->texts.parts[i].tokens;
    srv_count(lane->metrics, SRV_COUNTER_OUTPUT_TOKENS, tokens);
    if (job->first_ns)
        srv_observe(lane->metrics, SRV_HISTOGRAM_FIRST_TOKEN, (double)(job->first_ns - job->came_ns) * 1e-9);
}

static void end_jobs(srv_texts_lane *lane)
{
    for (srv_job **at = &lane->running; *at;) {
        srv_job *job = *at;
        srv_error error = {.fault = SRV_FAULT_NONE};
        if (job->texts.running > 0 || (job->texts.started < job->texts.count && !atomic_load(&job->is_cancelled))) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        count_job(lane, job);
        end_job(lane, job, fault_of(job, &error));
    }
}

static void count_shared(srv_texts_lane *lane)
{
    const uint64_t shared = clfi_scheduler_get_stats(lane->scheduler).shared;
    if (shared > lane->shared)
        srv_count(lane->metrics, SRV_COUNTER_PREFIX_TOKENS, shared - lane->shared);
    lane->shared = shared;
}

clf_status srv_texts_lane_step(srv_texts_lane *lane, bool *out_worked)
{
    const clf_status made = lane->scheduler ? CLF_OK : make_scheduler(lane);
    if (srv_is_loss(made))
        return made;
    if (made != CLF_OK)
        return refuse_waiting(lane, made);
    take_jobs(lane);
    cancel_requests(lane);
    const size_t load = clfi_scheduler_load(lane->scheduler);
    *out_worked = lane->running != NULL;
    if (load > 0) {
        const uint64_t start = clfi_now_ns();
        const clf_status st = clfi_scheduler_step(lane->scheduler);
        srv_count_pass(lane->metrics, (double)(clfi_now_ns() - start) * 1e-9, load, 0);
        if (st != CLF_OK && !srv_is_loss(st))
            fail_running(lane, st);
        CLF_TRY(st);
        count_shared(lane);
    }
    end_jobs(lane);
    return CLF_OK;
}
