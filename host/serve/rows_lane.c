/* SPDX-License-Identifier: MIT */
/* Runs passes over the texts of jobs. */
#include "serve/rows_lane.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "model/row_packer.h"

typedef struct lane {
    srv_row_kind kind;
    clf_row_packer *packer;
    uint64_t turn; /* the number of its last pass */
    struct lane *next;
} lane;

struct srv_rows_lanes {
    const srv_model *model;
    clf_session *session;
    srv_queue *queue;
    srv_metrics *metrics;
    size_t pass_tokens;
    lane *first;
    uint64_t turns;   /* passes so far */
    srv_item **given; /* [given_count]: texts of the current pass; NULL: the text has its row */
    size_t given_count, given_capacity, given_tokens;
};

clf_status srv_rows_lanes_create(const srv_model *model, clf_session *session, srv_queue *queue, srv_metrics *metrics, size_t pass_tokens,
                                 srv_rows_lanes **out)
{
    srv_rows_lanes *lanes;
    CLF_TRY(clfi_alloc(1, sizeof *lanes, "packers", &lanes));
    *lanes = (srv_rows_lanes){.model = model, .session = session, .queue = queue, .metrics = metrics, .pass_tokens = pass_tokens};
    *out = lanes;
    return CLF_OK;
}

void srv_rows_lanes_destroy(srv_rows_lanes *lanes)
{
    if (!lanes)
        return;
    for (lane *l = lanes->first; l;) {
        lane *next = l->next;
        clfi_row_packer_destroy(l->packer);
        free(l);
        l = next;
    }
    free(lanes->given);
    free(lanes);
}

/* ---- Ends of jobs ---- */

/* Whether the job is in no list and no pass has a text of it. The caller holds the queue's lock, so that one worker alone ends the job. */
static bool is_settled(const srv_job *job)
{
    return !job->is_listed && job->rows.done == job->rows.given;
}

static void let_go(const srv_rows_lanes *lanes, srv_job *job)
{
    srv_queue_end(lanes->queue, job->began_ns != 0);
    srv_job_release(job);
}

/* Counts a text of the job that has its row or has failed, and ends the job after its last one. */
static void end_item(const srv_rows_lanes *lanes, srv_job *job)
{
    pthread_mutex_lock(&lanes->queue->lock);
    const bool is_last = ++job->rows.done == job->rows.count, is_over = is_settled(job);
    pthread_mutex_unlock(&lanes->queue->lock);
    if (is_last)
        srv_job_finish(job, NULL);
    if (is_over)
        let_go(lanes, job);
}

static void fail_job(srv_job *job, clf_status status)
{
    srv_error error;
    srv_refuse_status(&error, status, NULL);
    if (error.fault == SRV_FAULT_INVALID)
        error.fault = SRV_FAULT_BACKEND; /* wrong requests were refused before they became jobs */
    srv_job_finish(job, &error);
    atomic_store(&job->is_cancelled, true); /* its other texts leave the queue */
}

/* A clf_row_sink. A row with a number that is not finite comes as a failure, so that no route has to check its numbers. */
static clf_status take_row(void *user, size_t tag, const float *row, clf_status status)
{
    srv_rows_lanes *lanes = user;
    srv_item *item = lanes->given[tag];
    srv_job *job = item->job;
    srv_rows *rows = &job->rows;
    lanes->given[tag] = NULL;
    const size_t index = (size_t)(item - rows->items);
    if (row)
        memcpy(rows->rows + index * rows->width, row, rows->width * sizeof *row);
    else
        fail_job(job, clfi_fail_prefix(status, "text %zu", index));
    end_item(lanes, job);
    return CLF_OK;
}

/* Ends the items of the pass that have no row. status: their jobs fail with it; OK: their jobs were cancelled. */
static void fail_given(srv_rows_lanes *lanes, clf_status status)
{
    for (size_t i = 0; i < lanes->given_count; i++) {
        srv_item *item = lanes->given[i];
        if (!item)
            continue;
        lanes->given[i] = NULL;
        if (status != CLF_OK)
            fail_job(item->job, status);
        end_item(lanes, item->job);
    }
}

/* Puts the texts of the pass back into the queue, because the device was lost. */
static void return_given(srv_rows_lanes *lanes)
{
    pthread_mutex_lock(&lanes->queue->lock);
    for (size_t i = lanes->given_count; i-- > 0;) {
        srv_item *item = lanes->given[i];
        srv_job *job = item ? item->job : NULL;
        if (!job || atomic_load(&job->is_cancelled))
            continue;
        lanes->given[i] = NULL;
        item->is_back = true;
        job->rows.back++;
        job->rows.given--;
        if (!job->is_listed)
            srv_queue_return(lanes->queue, job);
    }
    pthread_mutex_unlock(&lanes->queue->lock);
    fail_given(lanes, CLF_OK); /* texts of cancelled jobs */
}

void srv_rows_lanes_leave(srv_rows_lanes *lanes, bool has_others, clf_status status)
{
    if (has_others)
        return_given(lanes);
    else
        fail_given(lanes, status);
    lanes->given_count = 0;
}

/* ---- Packers ---- */

static bool is_same_kind(const srv_row_kind *a, const srv_row_kind *b)
{
    return a->task == b->task && a->is_raw == b->is_raw && a->prompt_name == b->prompt_name;
}

static clf_status make_packer(srv_rows_lanes *lanes, const srv_row_kind *kind, clf_row_packer **out)
{
    const clf_row_packer_params feed = {.sink = take_row, .user = lanes};
    if (kind->task != SRV_TASK_EMBED) {
        clf_classify_params params = CLF_CLASSIFY_PARAMS_INIT;
        params.batch_tokens = lanes->pass_tokens;
        return clfi_classify_packer(lanes->session, &params, kind->task == SRV_TASK_RERANK, &feed, out);
    }
    clf_embed_params params = CLF_EMBED_PARAMS_INIT;
    params.batch_tokens = lanes->pass_tokens;
    params.prompt_name = kind->prompt_name;
    params.normalize = kind->is_raw ? 0 : CLF_AS_MODEL;
    return clfi_embed_packer(lanes->session, &params, &feed, out);
}

/* The kind's lane; NULL: it has none yet. */
static lane *find_lane(const srv_rows_lanes *lanes, const srv_row_kind *kind)
{
    lane *l = lanes->first;
    while (l && !is_same_kind(&l->kind, kind))
        l = l->next;
    return l;
}

static clf_status open_lane(srv_rows_lanes *lanes, const srv_row_kind *kind, lane **out)
{
    lane *l = find_lane(lanes, kind);
    if (!l) {
        CLF_TRY(clfi_alloc(1, sizeof *l, "packer", &l));
        const clf_status st = make_packer(lanes, kind, &l->packer);
        if (st != CLF_OK) {
            free(l);
            return st;
        }
        l->kind = *kind;
        l->next = lanes->first;
        lanes->first = l;
    }
    *out = l;
    return CLF_OK;
}

/* Raw embeddings run some of the kernels of the others; pairs run those of single texts. */
clf_status srv_rows_lanes_warm(srv_rows_lanes *lanes)
{
    const srv_row_kind kind = {.task = lanes->model->tasks & SRV_TASK_EMBED ? SRV_TASK_EMBED : SRV_TASK_PREDICT};
    lane *l;
    CLF_TRY(open_lane(lanes, &kind, &l));
    return clfi_row_packer_warm(l->packer);
}

/* Drops a lane after a failure, because its packer's state is unknown. */
static void drop_lane(srv_rows_lanes *lanes, lane *gone)
{
    for (lane **at = &lanes->first; *at; at = &(*at)->next)
        if (*at == gone) {
            *at = gone->next;
            clfi_row_packer_destroy(gone->packer);
            free(gone);
            return;
        }
}

/* ---- What goes into a pass ---- */

static bool is_ours(const srv_rows_lanes *lanes, const srv_job *job)
{
    return srv_job_is_rows(job) && job->model == lanes->model;
}

/* Removes cancelled jobs from the queue, whose lock is held. Those that no pass has a text of are linked into *out. */
static void take_cancelled(srv_rows_lanes *lanes, srv_job **out)
{
    srv_job *before = NULL, *next;
    for (srv_job *job = lanes->queue->first; job; job = next) {
        next = job->next;
        if (!is_ours(lanes, job) || !atomic_load(&job->is_cancelled)) {
            before = job;
            continue;
        }
        srv_queue_unlink(lanes->queue, job, before);
        job->is_listed = false;
        if (!is_settled(job))
            continue;
        job->next = *out;
        *out = job;
    }
}

/* The next item for a pass. Items whose device was lost come first. */
static srv_item *next_item(srv_rows *rows)
{
    size_t i = rows->next;
    if (rows->back)
        for (i = 0; !rows->items[i].is_back;)
            i++;
    return &rows->items[i];
}

/* Puts the job's next text into the pass. *out_fits false: the pass has no room for it. */
static clf_status take_item(srv_rows_lanes *lanes, srv_job *job, bool *out_fits)
{
    srv_item *item = next_item(&job->rows);
    *out_fits = lanes->given_count == 0 || lanes->given_tokens + item->count <= lanes->pass_tokens;
    if (!*out_fits)
        return CLF_OK;
    CLF_TRY(clfi_grow(&lanes->given, &lanes->given_capacity, lanes->given_count + 1, sizeof *lanes->given, "texts"));
    if (job->began_ns == 0) {
        srv_queue_begin(lanes->queue, job);
        srv_observe(lanes->metrics, SRV_HISTOGRAM_WAIT, (double)(job->began_ns - job->came_ns) * 1e-9);
    }
    lanes->given[lanes->given_count++] = item;
    lanes->given_tokens += item->count;
    job->rows.given++;
    if (item->is_back)
        job->rows.back--;
    else
        job->rows.next++;
    item->is_back = false;
    return CLF_OK;
}

/* Puts one text of each job of the kind into the pass. *out_any: at least one; *out_full: the pass is full. */
static clf_status take_turn(srv_rows_lanes *lanes, const srv_row_kind *kind, bool *out_any, bool *out_full)
{
    srv_job *before = NULL, *next;
    *out_any = false;
    for (srv_job *job = lanes->queue->first; job && !*out_full; job = next) {
        bool fits = true;
        next = job->next;
        if (is_ours(lanes, job) && is_same_kind(&job->rows.kind, kind)) {
            CLF_TRY(take_item(lanes, job, &fits));
            *out_full = !fits;
            *out_any |= fits;
        }
        if (fits && is_ours(lanes, job) && job->rows.given == job->rows.count) {
            srv_queue_unlink(lanes->queue, job, before);
            job->is_listed = false;
        } else {
            before = job;
        }
    }
    return CLF_OK;
}

/* Kinds take turns, so that a long job holds up no short one of another kind: the waiting kind whose last pass is the longest ago. The lock
 * is held. task 0: none waits. */
static srv_row_kind next_kind(const srv_rows_lanes *lanes)
{
    srv_row_kind next = {.task = 0};
    uint64_t oldest = UINT64_MAX;
    for (const srv_job *job = lanes->queue->first; job; job = job->next) {
        if (!is_ours(lanes, job))
            continue;
        const lane *l = find_lane(lanes, &job->rows.kind);
        const uint64_t turn = l ? l->turn : 0;
        if (turn < oldest) {
            oldest = turn;
            next = job->rows.kind;
        }
    }
    return next;
}

/* Fills the pass from the jobs of the next kind. *out_kind->task 0: none waits. */
static clf_status fill(srv_rows_lanes *lanes, srv_row_kind *out_kind, srv_job **out_cancelled)
{
    bool any = true, is_full = false;
    clf_status st = CLF_OK;
    *out_cancelled = NULL;
    lanes->given_count = lanes->given_tokens = 0;
    pthread_mutex_lock(&lanes->queue->lock);
    take_cancelled(lanes, out_cancelled);
    *out_kind = next_kind(lanes);
    while (st == CLF_OK && out_kind->task && any && !is_full)
        st = take_turn(lanes, out_kind, &any, &is_full);
    pthread_mutex_unlock(&lanes->queue->lock);
    return st;
}

static clf_status run(srv_rows_lanes *lanes, const srv_row_kind *kind)
{
    lane *l;
    clf_status st = open_lane(lanes, kind, &l);
    CLF_TRY(st);
    l->turn = ++lanes->turns;
    for (size_t i = 0; i < lanes->given_count && st == CLF_OK; i++) {
        const srv_item *item = lanes->given[i];
        const clf_tokens tokens = {item->ids, item->ids + item->count, item->count};
        st = clfi_row_packer_add(l->packer, &(clf_row_item){.tag = i, .tokens = &tokens});
    }
    while (st == CLF_OK && clfi_row_packer_load(l->packer) > 0)
        st = clfi_row_packer_step(l->packer);
    if (st != CLF_OK)
        drop_lane(lanes, l);
    return st;
}

clf_status srv_rows_lanes_step(srv_rows_lanes *lanes, bool *out_worked)
{
    srv_row_kind kind;
    srv_job *cancelled, *next;
    clf_status st = fill(lanes, &kind, &cancelled);
    for (srv_job *job = cancelled; job; job = next) {
        next = job->next;
        srv_job_finish(job, NULL);
        let_go(lanes, job);
    }
    const uint64_t start = clfi_now_ns();
    const size_t texts = lanes->given_count, tokens = lanes->given_tokens;
    *out_worked = texts > 0;
    if (st == CLF_OK && texts > 0)
        st = run(lanes, &kind);
    if (srv_is_loss(st))
        return st;
    fail_given(lanes, st);
    if (texts > 0) {
        srv_count_pass(lanes->metrics, (double)(clfi_now_ns() - start) * 1e-9, texts, tokens);
        srv_count(lanes->metrics, SRV_COUNTER_TEXTS, texts);
        srv_count(lanes->metrics, SRV_COUNTER_INPUT_TOKENS, tokens);
    }
    return st;
}
