/* SPDX-License-Identifier: MIT */
/* A process per device. */
#include "cli/pool.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "bench/worker.h"
#include "cli/device_listing.h"
#include "cli/progress.h"

enum { MOST_DEVICES = 64, NAME_BYTES = 256, REASON_BYTES = 1024, MOST_TRIES = 2, WINDOWS_AHEAD = 16 };

/* Between the processes: two forks of one program, so that structs have one layout and borrowed texts of the command line one address. */
typedef struct task {
    cli_embedding embedding;
    cli_classifying scoring; /* query.data not NULL: pairs with it are scored; else texts are embedded */
} task;

typedef struct request {
    task what;
    size_t count, bytes; /* then count sizes, then the bytes */
} request;

typedef struct reply {
    clf_status status;
    char reason[REASON_BYTES];
    size_t failed; /* of the request's texts, to which the reason belongs; SIZE_MAX: none */
    clf_embed_stats stats;
    size_t numbers; /* floats that follow */
} reply;

typedef enum job_state { JOB_WAITS, JOB_RUNS, JOB_DONE } job_state;

typedef struct job {
    job_state state;
    int tries;
    double share, passed; /* of all inputs read with it */
    clf_str bytes;
    clf_text *texts;
    size_t *lines; /* of the texts in the stream of that name; 0: an argument */
    const char *name;
    size_t count, window, first;
    float *rows;
} job;

typedef struct member {
    char device[NAME_BYTES]; /* selector; "" = default */
    clfi_worker worker;
    job *job; /* that it works at; NULL: free */
} member;

typedef struct cli_pool {
    member members[MOST_DEVICES];
    size_t count;
    job *jobs; /* ring */
    size_t capacity, head, used;
    size_t width;
} cli_pool;

/* ---- In the process of a device ---- */

typedef struct place {
    const cli_session *session;
    const char *directory, *device;
} place;

static const clfi_patience for_ever = {0, NULL};

static bool receive_all(int socket, void *data, size_t size)
{
    return clfi_message_receive_bytes(socket, &for_ever, data, size) == CLFI_MESSAGE_OK;
}

typedef struct received {
    char *bytes;
    size_t *sizes;
    clf_text *texts;
    clf_text_pair *pairs;
    float *rows;
} received;

static void free_received(received *r)
{
    free(r->bytes);
    free(r->sizes);
    free(r->texts);
    free(r->pairs);
    free(r->rows);
}

/* Numbers of a text: the embedding's width, or one score. */
static clf_status width_of(const cli_session *session, const task *what, size_t *out)
{
    *out = 1;
    return what->scoring.query.data ? CLF_OK : cli_embedding_width(session, &what->embedding, out);
}

static clf_status score(cli_session *session, const cli_classifying *options, received *r, size_t count, size_t *failed,
                        clf_embed_stats *stats)
{
    clf_classify_params params = cli_classify_params(options);
    params.failed_text = failed;
    CLF_TRY(clfi_alloc(count, sizeof *r->pairs, "pairs of texts", &r->pairs));
    for (size_t i = 0; i < count; i++)
        r->pairs[i] = (clf_text_pair){options->query, r->texts[i]};
    return clf_model_score_pairs(session->model, r->pairs, count, &params, r->rows, stats);
}

static clf_status embed(cli_session *session, const cli_embedding *options, received *r, size_t count, size_t *failed,
                        clf_embed_stats *stats)
{
    clf_embed_params params = cli_embed_params(options);
    params.failed_text = failed;
    return clf_model_embed(session->model, r->texts, count, &params, r->rows, stats);
}

/* *failed: the text to blame, or as it was. *out_open false: the other side is gone. */
static clf_status work(int socket, cli_session *session, const request *q, received *r, size_t *failed, clf_embed_stats *stats,
                       size_t *out_width, bool *out_open)
{
    size_t width, at = 0;
    CLF_TRY(width_of(session, &q->what, &width));
    *out_width = width;
    CLF_TRY(clfi_alloc(q->bytes + 1, 1, "texts", &r->bytes));
    CLF_TRY(clfi_alloc(q->count, sizeof *r->sizes, "texts", &r->sizes));
    CLF_TRY(clfi_alloc(q->count, sizeof *r->texts, "texts", &r->texts));
    CLF_TRY(clfi_alloc(q->count * width, sizeof *r->rows, "results", &r->rows));
    *out_open = receive_all(socket, r->sizes, q->count * sizeof *r->sizes) && receive_all(socket, r->bytes, q->bytes);
    if (!*out_open)
        return CLF_OK;
    for (size_t i = 0; i < q->count; at += r->sizes[i++])
        r->texts[i] = (clf_text){r->bytes + at, r->sizes[i]};
    return q->what.scoring.query.data ? score(session, &q->what.scoring, r, q->count, failed, stats)
                                      : embed(session, &q->what.embedding, r, q->count, failed, stats);
}

static bool send_reply(int socket, clf_status status, size_t failed, const clf_embed_stats *stats, const float *rows, size_t numbers)
{
    reply answer = {.status = status, .failed = failed, .numbers = status == CLF_OK ? numbers : 0};
    if (stats)
        answer.stats = *stats;
    if (status != CLF_OK)
        snprintf(answer.reason, sizeof answer.reason, "%s", clf_last_error());
    return clfi_message_send_bytes(socket, &answer, sizeof answer) == CLFI_MESSAGE_OK &&
           clfi_message_send_bytes(socket, rows, answer.numbers * sizeof *rows) == CLFI_MESSAGE_OK;
}

static void serve(int socket, const void *user)
{
    const place *at = user;
    cli_session session = *at->session;
    session.device = at->device[0] ? at->device : NULL;
    session.stats = 0;
    session.trace = NULL;
    clf_status st = cli_session_open_model(&session, at->directory);
    bool is_open = send_reply(socket, st, SIZE_MAX, NULL, NULL, 0) && st == CLF_OK;
    while (is_open) {
        request q;
        received r = {NULL, NULL, NULL, NULL, NULL};
        clf_embed_stats stats = {0};
        size_t width = 0, failed = SIZE_MAX;
        if (!receive_all(socket, &q, sizeof q))
            break;
        st = work(socket, &session, &q, &r, &failed, &stats, &width, &is_open);
        is_open = is_open && send_reply(socket, st, failed, &stats, r.rows, q.count * width) && st == CLF_OK;
        free_received(&r);
    }
    st = cli_session_close(&session, NULL);
    (void)st;
}

/* ---- Starting and ending ---- */

static clf_status add_member(cli_pool *pool, const char *device, size_t length)
{
    if (pool->count == MOST_DEVICES || length >= NAME_BYTES)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--device: expected at most %d devices, of names of at most %d bytes", MOST_DEVICES, NAME_BYTES - 1);
    member *m = &pool->members[pool->count++];
    m->worker = (clfi_worker)CLFI_WORKER_INIT;
    snprintf(m->device, sizeof m->device, "%.*s", (int)length, device);
    return CLF_OK;
}

/* CLF_OK, or why there is no answer or a bad one. */
static clf_status receive_answer(clfi_worker *worker, void *data, size_t size, reply *answer)
{
    const clfi_message_end end = clfi_message_receive_bytes(worker->socket, &for_ever, data, size);
    if (end != CLFI_MESSAGE_OK)
        return clfi_worker_lost(worker, end);
    answer->reason[REASON_BYTES - 1] = '\0';
    return answer->status == CLF_OK ? CLF_OK : clfi_fail(answer->status, "%s", answer->reason);
}

/* What "all" takes. Which device a repeated one stands behind is told, since it may still be named. */
static clf_status add_all(cli_pool *pool, const cli_device_listing *listing)
{
    for (size_t i = 0; i < listing->count; i++) {
        const cli_listed *device = &listing->devices[i];
        char text[32];
        const int length = snprintf(text, sizeof text, "%zu", i);
        if (device->is_chosen)
            CLF_TRY(add_member(pool, text, (size_t)length));
        else if (device->same_as >= 0)
            fprintf(stderr, "clformer: device %zu is the same hardware as device %d: --device all leaves it out\n", i, device->same_as);
    }
    return CLF_OK;
}

static clf_status list_members(cli_pool *pool, const char *devices)
{
    cli_device_listing listing;
    CLF_TRY(cli_devices_list(true, &listing));
    if (strcmp(devices, "all") == 0)
        return add_all(pool, &listing);
    for (const char *at = devices;; at++) {
        const size_t length = strcspn(at, ",");
        CLF_TRY(add_member(pool, at, length));
        at += length;
        if (!*at)
            return CLF_OK;
    }
}

static const char *name_of(const member *m)
{
    return m->device[0] ? m->device : "default";
}

/* The member is gone; the reason is the last error's. */
static void say_lost(member *m, const char *what)
{
    cli_line_clear();
    fprintf(stderr, "clformer: device %s: %s; %s\n", name_of(m), clf_last_error(), what);
    clfi_worker_stop(&m->worker);
}

static clf_status start_members(cli_pool *pool, const cli_session *session, const char *directory)
{
    size_t alive = 0;
    clf_status last = clfi_fail(CLF_NOT_FOUND, "there is no device that can be used");
    for (size_t i = 0; i < pool->count; i++) {
        const place at = {session, directory, pool->members[i].device};
        CLF_TRY(clfi_worker_fork(serve, &at, &pool->members[i].worker));
    }
    for (size_t i = 0; i < pool->count; i++) {
        reply answer;
        const clf_status st = receive_answer(&pool->members[i].worker, &answer, sizeof answer, &answer);
        alive += st == CLF_OK;
        if (st != CLF_OK && ((last = st), i + 1 < pool->count || alive))
            say_lost(&pool->members[i], "it is left out");
    }
    return alive ? CLF_OK : last;
}

static void clear_job(job *j)
{
    clfi_str_free(&j->bytes);
    free(j->texts);
    free(j->lines);
    free(j->rows);
    *j = (job){.state = JOB_WAITS};
}

static void stop(cli_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        clfi_worker_stop(&pool->members[i].worker);
    for (size_t i = 0; pool->jobs && i < pool->capacity; i++)
        clear_job(&pool->jobs[i]);
    free(pool->jobs);
    free(pool);
}

static clf_status start(cli_session *session, const char *devices, const char *directory)
{
    cli_pool *pool;
    CLF_TRY(clfi_alloc(1, sizeof *pool, "devices", &pool));
    clf_status st = list_members(pool, devices);
    if (st == CLF_OK)
        st = start_members(pool, session, directory);
    pool->capacity = WINDOWS_AHEAD * pool->count; /* so many times faster may one be than another without waiting for it */
    if (st == CLF_OK)
        st = clfi_alloc(pool->capacity, sizeof *pool->jobs, "windows", &pool->jobs);
    if (st != CLF_OK) {
        stop(pool);
        return st;
    }
    size_t first = 0;
    while (first + 1 < pool->count && pool->members[first].worker.process <= 0)
        first++;
    session->device = pool->members[first].device[0] ? pool->members[first].device : NULL;
    session->pool = pool;
    session->stop_pool = stop;
    return CLF_OK;
}

clf_status cli_pool_open_model(cli_session *session, const char *directory)
{
    const char *devices = cli_devices_asked(session);
    if (devices)
        CLF_TRY(start(session, devices, directory));
    return cli_session_open_model(session, directory);
}

/* ---- Windows ---- */

static job *job_at(cli_pool *pool, size_t index)
{
    return &pool->jobs[(pool->head + index) % pool->capacity];
}

/* The next window of the inputs into the ring; *out_any false: there is none. */
static clf_status read_window(cli_pool *pool, cli_inputs *inputs, bool *out_any)
{
    CLF_TRY(cli_inputs_next(inputs));
    *out_any = inputs->count > 0;
    if (!*out_any)
        return CLF_OK;
    job *j = job_at(pool, pool->used++);
    *j = (job){.state = JOB_WAITS,
               .name = inputs->name,
               .count = inputs->count,
               .window = inputs->window,
               .first = inputs->total,
               .share = cli_inputs_share(inputs),
               .passed = cli_inputs_passed_share(inputs)};
    CLF_TRY(clfi_alloc(j->count, sizeof *j->texts, "texts", &j->texts));
    CLF_TRY(clfi_alloc(j->count, sizeof *j->lines, "texts", &j->lines));
    memcpy(j->lines, inputs->lines, j->count * sizeof *j->lines);
    for (size_t i = 0; i < j->count; i++)
        CLF_TRY(clfi_str_append(&j->bytes, inputs->texts[i].data, inputs->texts[i].size));
    const char *at = clfi_str_text(&j->bytes);
    for (size_t i = 0; i < j->count; at += inputs->texts[i++].size)
        j->texts[i] = (clf_text){at, inputs->texts[i].size};
    return CLF_OK;
}

/* The member failed with its windows, or is gone: another takes them. The last error is the reason. */
static clf_status lose(cli_pool *pool, member *m, clf_status st)
{
    job *j = m->job;
    size_t alive = 0;
    m->job = NULL;
    free(j->rows);
    j->rows = NULL;
    j->state = JOB_WAITS;
    if (++j->tries >= MOST_TRIES)
        return clfi_fail_prefix(st, "texts %zu to %zu failed on %d devices, at last", j->first + 1, j->first + j->count, j->tries);
    for (size_t i = 0; i < pool->count; i++)
        alive += &pool->members[i] != m && pool->members[i].worker.process > 0;
    if (!alive)
        return clfi_fail_prefix(st, "the last device, %s", name_of(m));
    say_lost(m, "another takes its texts");
    return CLF_OK;
}

/* A member that closed its end is found out when its reply is waited for: it may tell why. */
static clf_status give(cli_pool *pool, member *m, job *j, const task *what)
{
    const request q = {.what = *what, .count = j->count, .bytes = j->bytes.length};
    const int socket = m->worker.socket;
    m->job = j;
    j->state = JOB_RUNS;
    clfi_message_end end = clfi_message_send_bytes(socket, &q, sizeof q);
    for (size_t i = 0; end == CLFI_MESSAGE_OK && i < j->count; i++)
        end = clfi_message_send_bytes(socket, &j->texts[i].size, sizeof j->texts[i].size);
    if (end == CLFI_MESSAGE_OK)
        end = clfi_message_send_bytes(socket, clfi_str_text(&j->bytes), j->bytes.length);
    return end == CLFI_MESSAGE_FAILED ? lose(pool, m, clfi_worker_lost(&m->worker, end)) : CLF_OK;
}

static clf_status give_all(cli_pool *pool, const task *what, size_t *out_busy)
{
    size_t next = 0;
    *out_busy = 0;
    for (size_t i = 0; i < pool->count; i++) {
        member *m = &pool->members[i];
        while (next < pool->used && job_at(pool, next)->state != JOB_WAITS)
            next++;
        if (m->worker.process > 0 && !m->job && next < pool->used)
            CLF_TRY(give(pool, m, job_at(pool, next), what));
        *out_busy += m->worker.process > 0 && m->job != NULL;
    }
    return CLF_OK;
}

static size_t free_members(const cli_pool *pool)
{
    size_t count = 0;
    for (size_t i = 0; i < pool->count; i++)
        count += pool->members[i].worker.process > 0 && !pool->members[i].job;
    return count;
}

/* The reply of a member that has one. */
static clf_status take(cli_pool *pool, member *m, clf_embed_stats *stats)
{
    job *j = m->job;
    reply answer = {.failed = SIZE_MAX};
    char where[NAME_BYTES];
    clf_status st = receive_answer(&m->worker, &answer, sizeof answer, &answer);
    if (st != CLF_OK && answer.failed < j->count)
        st =
            clfi_fail_prefix(st, "%s", cli_text_where(j->name, j->lines[answer.failed], j->first + answer.failed + 1, where, sizeof where));
    if (st == CLF_OK && answer.numbers != j->count * pool->width)
        st = clfi_fail(CLF_INTERNAL, "device %s: %zu numbers, expected %zu", name_of(m), answer.numbers, j->count * pool->width);
    if (st == CLF_INVALID_ARGUMENT || st == CLF_UNSUPPORTED) /* by the model or the options: another device would say the same */
        return st;
    if (st != CLF_OK)
        return lose(pool, m, st);
    CLF_TRY(clfi_alloc(j->count * pool->width, sizeof *j->rows, "results", &j->rows));
    const clfi_message_end end = clfi_message_receive_bytes(m->worker.socket, &for_ever, j->rows, answer.numbers * sizeof *j->rows);
    if (end != CLFI_MESSAGE_OK)
        return lose(pool, m, clfi_worker_lost(&m->worker, end));
    m->job = NULL;
    j->state = JOB_DONE;
    cli_add_stats(stats, &answer.stats);
    return CLF_OK;
}

static clf_status wait_replies(cli_pool *pool, clf_embed_stats *stats)
{
    struct pollfd polls[MOST_DEVICES];
    member *who[MOST_DEVICES];
    nfds_t count = 0;
    for (size_t i = 0; i < pool->count; i++) {
        if (pool->members[i].worker.process <= 0 || !pool->members[i].job)
            continue;
        who[count] = &pool->members[i];
        polls[count++] = (struct pollfd){.fd = pool->members[i].worker.socket, .events = POLLIN};
    }
    if (poll(polls, count, -1) < 0 && errno != EINTR)
        CLF_FAIL(CLF_IO, "poll: %s", strerror(errno));
    for (nfds_t i = 0; i < count; i++)
        if (polls[i].revents)
            CLF_TRY(take(pool, who[i], stats));
    return CLF_OK;
}

/* The oldest windows, as far as they are done, to the sink. */
static clf_status deliver(cli_pool *pool, cli_progress *progress, cli_embedding_sink sink, void *user)
{
    while (pool->used && job_at(pool, 0)->state == JOB_DONE) {
        job *j = job_at(pool, 0);
        progress->passed = j->passed;
        cli_progress_window(progress, j->share);
        cli_progress_update(progress, j->count, j->count);
        cli_progress_count(progress, j->count);
        CLF_TRY(sink(user, &(cli_embedded){j->texts, j->rows, j->count, pool->width, j->window, j->first}));
        clear_job(j);
        pool->head = (pool->head + 1) % pool->capacity;
        pool->used--;
    }
    return CLF_OK;
}

static clf_status spread(cli_pool *pool, cli_session *session, const task *what, cli_inputs *inputs, cli_embedding_sink sink, void *user,
                         clf_embed_stats *stats)
{
    cli_progress progress = cli_progress_start("texts", session->context);
    bool any = true;
    CLF_TRY(width_of(session, what, &pool->width));
    for (;;) {
        size_t waiting = 0, busy;
        for (size_t i = 0; i < pool->used; i++)
            waiting += job_at(pool, i)->state == JOB_WAITS;
        while (any && pool->used < pool->capacity && waiting <= free_members(pool)) { /* one more than can begin */
            CLF_TRY(read_window(pool, inputs, &any));
            waiting += any;
        }
        CLF_TRY(give_all(pool, what, &busy));
        if (busy == 0)
            return CLF_OK; /* all that was read is delivered */
        CLF_TRY(wait_replies(pool, stats));
        CLF_TRY(deliver(pool, &progress, sink, user));
    }
}

static clf_status run(cli_session *session, const task *what, size_t max_tokens, cli_inputs *inputs, cli_embedding_sink sink, void *user,
                      clf_embed_stats *stats)
{
    const size_t truncated = stats->truncated;
    const clf_status st = spread(session->pool, session, what, inputs, sink, user, stats);
    cli_line_clear();
    if (st == CLF_OK)
        cli_say_truncated(session, stats->truncated - truncated, max_tokens);
    return st;
}

clf_status cli_pool_embed(cli_session *session, const cli_embedding *options, cli_inputs *inputs, cli_embedding_sink sink, void *user,
                          clf_embed_stats *stats)
{
    if (!session->pool)
        return cli_embed_all(session, options, inputs, sink, user, stats);
    return run(session, &(task){.embedding = *options}, options->max_tokens, inputs, sink, user, stats);
}

clf_status cli_pool_score(cli_session *session, const cli_classifying *options, cli_inputs *inputs, cli_embedding_sink sink, void *user,
                          clf_embed_stats *stats)
{
    if (!session->pool)
        return cli_score_all(session, options, inputs, sink, user, stats);
    return run(session, &(task){.scoring = *options}, options->max_tokens, inputs, sink, user, stats);
}
