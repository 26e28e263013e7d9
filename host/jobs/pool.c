/* SPDX-License-Identifier: MIT */
/* Hands windows of texts to the devices' processes and collects their results. */
#include "jobs/pool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "process/child.h"
#include "jobs/device_listing.h"
#include "jobs/patience.h"
#include "jobs/pool_device.h"
#include "jobs/pool_members.h"
#include "console/progress.h"

enum { MOST_TRIES = 2, WINDOWS_AHEAD = 16, TIMES_LOST = 20 /* as CLI_TIMES_LATE: a device is lost after so many times the usual */ };

typedef struct window_job {
    bool is_done;
    int workers, tries;   /* members that work on it; members that failed with it */
    double share, passed; /* cli_inputs_share and cli_inputs_passed_share after the window was read */
    clf_str bytes;
    clf_text *texts; /* as cli_pool_texts has them */
    size_t text_count;
    cli_place *places; /* as cli_inputs has them, with the unit */
    const char *unit;
    size_t count, window, first;
    float *rows;
} window_job;

typedef struct cli_pool {
    cli_pool_members members;
    window_job *jobs; /* ring */
    size_t capacity, used;
    uint64_t first; /* number of the oldest window_job in the ring; windows are counted from the start of the pool */
    size_t width;
    unsigned product_precisions; /* of all members */
} cli_pool;

static void clear_job(window_job *j)
{
    clfi_str_free(&j->bytes);
    free(j->texts);
    free(j->places);
    free(j->rows);
    *j = (window_job){.is_done = false};
}

static void stop(cli_pool *pool)
{
    cli_members_stop(&pool->members);
    for (size_t i = 0; pool->jobs && i < pool->capacity; i++)
        clear_job(&pool->jobs[i]);
    free(pool->jobs);
    free(pool);
}

static clf_status start(cli_session *session, const char *devices, const char *directory, const char **out_engine)
{
    cli_pool *pool;
    CLF_TRY(clfi_alloc(1, sizeof *pool, "devices", &pool));
    clf_status st = cli_members_list(&pool->members, devices);
    if (st == CLF_OK)
        st = cli_members_start(&pool->members, session, directory);
    pool->capacity = WINDOWS_AHEAD * pool->members.count; /* a device may run so far ahead of the slowest one */
    if (st == CLF_OK)
        st = clfi_alloc(pool->capacity, sizeof *pool->jobs, "windows", &pool->jobs);
    if (st != CLF_OK) {
        stop(pool);
        return st;
    }
    size_t first = 0;
    while (first + 1 < pool->members.count && !cli_member_is_open(&pool->members.at[first]))
        first++;
    session->device = pool->members.at[first].device[0] ? pool->members.at[first].device : NULL;
    *out_engine = pool->members.at[first].linear_engine;
    session->pool = pool;
    session->stop_pool = stop;
    return CLF_OK;
}

clf_status cli_pool_open_model(cli_session *session, const char *directory)
{
    const char *devices, *engine;
    CLF_TRY(cli_devices_asked(session->device, &devices));
    cli_session_note_model(session, directory);
    if (!devices)
        return cli_session_open_model(session, directory);
    if (session->trace)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--trace: expected one device, found \"%s\"", devices);
    CLF_TRY(start(session, devices, directory, &engine));
    return cli_session_describe_model(session, directory, engine);
}

/* ---- Windows ---- */

size_t cli_pool_size(const cli_session *session)
{
    return session->pool ? session->pool->members.count : 1;
}

/* Whether a living member before `index` has the same text at this offset of its struct. Members are few. */
static bool is_repeated(const cli_pool_members *members, size_t index, size_t offset)
{
    for (size_t i = 0; i < index; i++)
        if (cli_member_is_alive(&members->at[i]) &&
            strcmp((const char *)&members->at[i] + offset, (const char *)&members->at[index] + offset) == 0)
            return true;
    return false;
}

static clf_status add_text(const cli_pool_members *members, size_t index, size_t offset, clf_str *out)
{
    if (is_repeated(members, index, offset))
        return CLF_OK;
    return clfi_str_appendf(out, "%s%s", clfi_str_text(out)[0] ? ", " : "", (const char *)&members->at[index] + offset);
}

clf_status cli_pool_device_names(const cli_session *session, clf_str *names, clf_str *drivers)
{
    if (!session->pool) {
        const clf_device_info *device = clf_context_device(session->context);
        CLF_TRY(clfi_str_append_text(names, device->name));
        return clfi_str_append_text(drivers, device->driver_version);
    }
    const cli_pool_members *members = &session->pool->members;
    for (size_t i = 0; i < members->count; i++) {
        if (!cli_member_is_alive(&members->at[i]))
            continue;
        CLF_TRY(add_text(members, i, offsetof(cli_pool_member, name), names));
        CLF_TRY(add_text(members, i, offsetof(cli_pool_member, driver), drivers));
    }
    return CLF_OK;
}

static window_job *job_of(const cli_pool *pool, uint64_t number)
{
    return &pool->jobs[number % pool->capacity];
}

/* The window that a member works at; NULL: none, or another member has finished it. */
static window_job *own_job(const cli_pool *pool, const cli_pool_member *m)
{
    window_job *j = m->is_busy && m->number >= pool->first ? job_of(pool, m->number) : NULL;
    return j && !j->is_done ? j : NULL;
}

/* Reads the next window of the inputs into the ring; *out_any false: there is none. */
static clf_status read_window(cli_pool *pool, const cli_pool_task *what, cli_inputs *inputs, bool *out_any)
{
    CLF_TRY(cli_inputs_next(inputs));
    *out_any = inputs->count > 0;
    if (!*out_any)
        return CLF_OK;
    window_job *j = job_of(pool, pool->first + pool->used++);
    *j = (window_job){.unit = inputs->unit,
                      .count = inputs->count,
                      .text_count = cli_pool_texts(what, inputs->count),
                      .window = inputs->window,
                      .first = inputs->total,
                      .share = cli_inputs_share(inputs),
                      .passed = cli_inputs_passed_share(inputs)};
    CLF_TRY(clfi_alloc(j->text_count, sizeof *j->texts, "texts", &j->texts));
    CLF_TRY(clfi_alloc(j->count, sizeof *j->places, "texts", &j->places));
    memcpy(j->places, inputs->places, j->count * sizeof *j->places);
    for (size_t i = 0; i < j->text_count; i++) {
        j->texts[i] = i < j->count ? inputs->texts[i] : inputs->seconds[i - j->count];
        CLF_TRY(clfi_str_append(&j->bytes, j->texts[i].data, j->texts[i].size));
    }
    const char *at = clfi_str_text(&j->bytes);
    for (size_t i = 0; i < j->text_count; at += j->texts[i++].size)
        j->texts[i].data = at;
    return CLF_OK;
}

/* The work of a window in units of its own, since long texts take longer. */
static double work_of(const window_job *j)
{
    enum { TEXT = 16 };
    return (double)j->bytes.length + TEXT * (double)j->count;
}

/* Seconds that the member should need for the window; NaN: it has done nothing yet. */
static double expected(const cli_pool_member *m, const window_job *j)
{
    return m->work > 0 ? m->seconds * work_of(j) / m->work : NAN;
}

/* Handles a member that failed with its texts or is gone: another member takes them. The last error is the reason. */
static clf_status lose(cli_pool *pool, cli_pool_member *m, clf_status st)
{
    window_job *j = own_job(pool, m);
    m->is_busy = false;
    if (j) {
        j->workers--;
        if (++j->tries >= MOST_TRIES)
            return clfi_fail_prefix(st, "texts %zu to %zu failed on %d devices; the last failure", j->first + 1, j->first + j->count,
                                    j->tries);
    }
    if (cli_members_is_last(&pool->members, m))
        return clfi_fail_prefix(st, "the last device (%s) failed", cli_member_name(m));
    cli_member_say_lost(m, !m->is_open  ? "it is left out"
                           : !j         ? "another device has computed its texts"
                           : j->workers ? "another device already computes its texts"
                                        : "another device takes its texts");
    return CLF_OK;
}

/* Sends a window to a member. If the member has closed its end, that is handled when its reply is read, because the reply may say why. */
static clf_status give(cli_pool *pool, cli_pool_member *m, uint64_t number, const cli_pool_task *what)
{
    window_job *j = job_of(pool, number);
    const cli_pool_request q = {.what = *what, .count = j->count, .bytes = j->bytes.length};
    const int socket = m->worker.socket;
    m->is_busy = true;
    m->is_told = false;
    m->number = number;
    m->since_ns = clfi_now_ns();
    j->workers++;
    clfi_message_end end = clfi_message_send_bytes(socket, &q, sizeof q);
    for (size_t i = 0; end == CLFI_MESSAGE_OK && i < j->text_count; i++)
        end = clfi_message_send_bytes(socket, &j->texts[i].size, sizeof j->texts[i].size);
    if (end == CLFI_MESSAGE_OK)
        end = clfi_message_send_bytes(socket, clfi_str_text(&j->bytes), j->bytes.length);
    return end == CLFI_MESSAGE_FAILED ? lose(pool, m, clfi_child_lost(&m->worker, end)) : CLF_OK;
}

/* Whether `other`, which is free, would probably finish the window of `m` long before `m`. Small windows cost little, so they are repeated
 * without waiting to see whether a new device is only compiling kernels. */
static bool is_worth_a_second(const cli_pool_member *m, const window_job *j, const cli_pool_member *other, bool *out_stalled)
{
    enum { FEW_TEXTS = 16 };
    const double elapsed = cli_seconds_since(m->since_ns), theirs = expected(m, j), own = expected(other, j);
    *out_stalled = elapsed > (isnan(own) ? cli_patience.told : cli_patience.stalled) && !(elapsed <= CLI_TIMES_LATE * own) &&
                   !(elapsed <= CLI_TIMES_LATE * theirs);
    return *out_stalled || theirs - elapsed > 2 * own || (isnan(own) && elapsed > cli_patience.stalled && j->count <= FEW_TEXTS);
}

/* Gives `other`, which is free, the window of a much slower or a silent member, when no other window is left. The first answer counts. */
static clf_status give_second(cli_pool *pool, cli_pool_member *other, const cli_pool_task *what)
{
    for (size_t i = 0; i < pool->members.count; i++) {
        cli_pool_member *m = &pool->members.at[i];
        const window_job *j = own_job(pool, m);
        bool is_stalled;
        if (!j || j->workers > 1 || !is_worth_a_second(m, j, other, &is_stalled))
            continue;
        if (is_stalled) {
            cli_line_clear();
            fprintf(stderr, "clformer: device %s: no answer for %.1f s; another device computes its texts too\n", cli_member_name(m),
                    cli_seconds_since(m->since_ns));
            m->is_told = true;
        }
        return give(pool, other, m->number, what);
    }
    return CLF_OK;
}

static clf_status give_all(cli_pool *pool, const cli_pool_task *what, bool is_all_read)
{
    uint64_t next = pool->first;
    for (size_t i = 0; i < pool->members.count; i++) {
        cli_pool_member *m = &pool->members.at[i];
        while (next < pool->first + pool->used && (job_of(pool, next)->is_done || job_of(pool, next)->workers))
            next++;
        if (!cli_member_is_free(m))
            continue;
        if (next < pool->first + pool->used)
            CLF_TRY(give(pool, m, next, what));
        else if (is_all_read || pool->used == pool->capacity)
            CLF_TRY(give_second(pool, m, what));
    }
    return CLF_OK;
}

/* Discards the answer to a window that another member has finished. */
static clf_status pass_over(cli_pool *pool, cli_pool_member *m)
{
    cli_pool_reply answer;
    float rows[4096];
    clf_status st = cli_member_receive_answer(&m->worker, &answer);
    for (size_t left = st == CLF_OK ? answer.numbers : 0; st == CLF_OK && left;) {
        const size_t some = left < COUNT(rows) ? left : COUNT(rows);
        st = cli_member_receive(&m->worker, rows, some * sizeof *rows);
        left -= some;
    }
    if (st != CLF_OK)
        return lose(pool, m, st);
    m->is_busy = false;
    return CLF_OK;
}

/* Reads the reply of a member, and its results into the window. */
static clf_status take(cli_pool *pool, cli_pool_member *m, clf_embed_stats *stats)
{
    window_job *j = own_job(pool, m);
    cli_pool_reply answer = {.failed = SIZE_MAX};
    if (!j)
        return pass_over(pool, m);
    clf_status st = cli_member_receive_answer(&m->worker, &answer);
    const bool is_refusal = st == CLF_INVALID_ARGUMENT || st == CLF_UNSUPPORTED; /* all devices would refuse */
    if (st != CLF_OK && answer.failed < j->count)
        st = cli_text_blame(&j->places[answer.failed], j->unit, j->first + answer.failed + 1, st);
    if (st == CLF_OK && answer.numbers != j->count * pool->width)
        st = clfi_fail(CLF_INTERNAL, "device %s: %zu numbers, expected %zu", cli_member_name(m), answer.numbers, j->count * pool->width);
    if (is_refusal)
        return st;
    if (st != CLF_OK)
        return lose(pool, m, st);
    if (!j->rows)
        CLF_TRY(clfi_alloc(j->count * pool->width, sizeof *j->rows, "results", &j->rows));
    st = cli_member_receive(&m->worker, j->rows, answer.numbers * sizeof *j->rows);
    if (st != CLF_OK)
        return lose(pool, m, st);
    m->is_busy = false;
    m->work += work_of(j);
    m->seconds += cli_seconds_since(m->since_ns);
    j->is_done = true;
    cli_add_stats(stats, &answer.stats);
    pool->product_precisions |= answer.product_precisions;
    return CLF_OK;
}

static bool may_answer(const cli_pool_member *m)
{
    return cli_member_is_opening(m) || (cli_member_is_alive(m) && m->is_busy);
}

/* Reports members that take long, and gives up those that take far too long. */
static clf_status check_patience(cli_pool *pool)
{
    for (size_t i = 0; i < pool->members.count; i++) {
        cli_pool_member *m = &pool->members.at[i];
        const window_job *j = own_job(pool, m);
        const double elapsed = cli_seconds_since(m->since_ns), usual = j ? expected(m, j) : NAN; /* fmax ignores NAN */
        const double lost = fmax(cli_patience.lost, TIMES_LOST * usual), told = fmax(cli_patience.told, CLI_TIMES_LATE * usual);
        if (!may_answer(m) || (m->is_open && !j && m->work > 0)) /* its window is done; a member that answered before is only slow */
            continue;
        if (elapsed > lost) {
            clfi_child_stop(&m->worker);
            CLF_TRY(lose(pool, m, clfi_fail(CLF_DEVICE, "no answer for %.0f s; its process was ended", lost)));
        } else if (elapsed > told && !m->is_told) {
            cli_line_clear();
            fprintf(stderr, "clformer: device %s: no answer for %.0f s; it may be compiling kernels, and is stopped after %.0f min\n",
                    cli_member_name(m), told, lost / 60);
            m->is_told = true;
        }
    }
    return CLF_OK;
}

static clf_status wait_replies(cli_pool *pool, clf_embed_stats *stats)
{
    cli_pool_member *ready[CLI_MOST_DEVICES];
    size_t count;
    CLF_TRY(cli_members_wait(&pool->members, may_answer, ready, &count));
    for (size_t i = 0; i < count; i++)
        CLF_TRY(cli_member_is_opening(ready[i]) ? cli_members_take_opening(&pool->members, ready[i]) : take(pool, ready[i], stats));
    return check_patience(pool);
}

/* Passes the oldest windows to the sink, as far as they are done. */
static clf_status deliver(cli_pool *pool, cli_progress *progress, cli_embedding_sink sink, void *user)
{
    while (pool->used && job_of(pool, pool->first)->is_done) {
        window_job *j = job_of(pool, pool->first);
        progress->passed = j->passed;
        cli_progress_window(progress, j->share);
        cli_progress_update(progress, j->count, j->count);
        cli_progress_count(progress, j->count);
        CLF_TRY(sink(user, &(cli_embedded){j->texts, j->rows, j->count, pool->width, j->window, j->first}));
        clear_job(j);
        pool->first++;
        pool->used--;
    }
    return CLF_OK;
}

static clf_status spread(cli_pool *pool, cli_session *session, const cli_pool_task *what, cli_inputs *inputs, cli_embedding_sink sink,
                         void *user, clf_embed_stats *stats)
{
    cli_progress progress = cli_progress_start("texts", session->context);
    bool any = true;
    CLF_TRY(cli_pool_width(session, what, &pool->width));
    for (;;) {
        size_t waiting = 0;
        for (uint64_t i = pool->first; i < pool->first + pool->used; i++)
            waiting += !job_of(pool, i)->is_done && !job_of(pool, i)->workers;
        while (any && pool->used < pool->capacity &&
               waiting <= cli_members_count(&pool->members, cli_member_is_free)) { /* one more than free members */
            CLF_TRY(read_window(pool, what, inputs, &any));
            waiting += any;
        }
        if (!any && pool->used == 0)
            return CLF_OK; /* all that was read is delivered */
        CLF_TRY(give_all(pool, what, !any));
        CLF_TRY(wait_replies(pool, stats));
        session->product_precisions = pool->product_precisions;
        CLF_TRY(deliver(pool, &progress, sink, user));
    }
}

static clf_status run(cli_session *session, const cli_pool_task *what, cli_inputs *inputs, cli_embedding_sink sink, void *user,
                      clf_embed_stats *stats)
{
    const size_t truncated = stats->truncated;
    if (!inputs->window_texts)
        inputs->window_texts = cli_inputs_window(inputs, cli_pool_size(session), CLI_WINDOW);
    const clf_status st = spread(session->pool, session, what, inputs, sink, user, stats);
    cli_line_clear();
    if (st == CLF_OK)
        cli_say_truncated(what->scores ? cli_session_scorer(session) : session->model, what->scores ? "pair" : "text",
                          stats->truncated - truncated, what->scores ? what->scoring.max_tokens : what->embedding.max_tokens);
    return st;
}

clf_status cli_pool_embed(cli_session *session, const cli_embedding *options, cli_inputs *inputs, cli_embedding_sink sink, void *user,
                          clf_embed_stats *stats)
{
    if (!session->pool)
        return cli_embed_all(session, options, inputs, sink, user, stats);
    return run(session, &(cli_pool_task){.embedding = *options}, inputs, sink, user, stats);
}

clf_status cli_pool_embed_few(cli_session *session, const cli_embedding *options, const clf_text *texts, size_t count, float *rows)
{
    const clf_embed_params params = cli_embed_params(options);
    clf_text_pair *alone = NULL;
    cli_inputs *inputs = NULL;
    clf_embed_stats stats = {0};
    clf_status st;
    if (!session->pool)
        return clf_session_embed(session->work, texts, count, &params, rows, NULL);
    CLF_GOTO(clfi_alloc(count, sizeof *alone, "texts", &alone));
    for (size_t i = 0; i < count; i++)
        alone[i].first = texts[i];
    CLF_GOTO(cli_inputs_of_pairs(alone, NULL, count, NULL, &inputs));
    CLF_GOTO(spread(session->pool, session, &(cli_pool_task){.embedding = *options}, inputs, cli_place_rows, rows, &stats));
done:
    cli_line_clear();
    cli_inputs_close(inputs);
    free(alone);
    return st;
}

clf_status cli_pool_score(cli_session *session, const cli_classifying *options, cli_inputs *inputs, cli_embedding_sink sink, void *user,
                          clf_embed_stats *stats)
{
    enum { WINDOW = 512 };
    if (!inputs->window_texts)
        inputs->window_texts = cli_inputs_window(inputs, cli_pool_size(session), WINDOW);
    if (!session->pool)
        return cli_score_all(session, options, inputs, sink, user, stats);
    return run(session, &(cli_pool_task){.scores = true, .scoring = *options}, inputs, sink, user, stats);
}
