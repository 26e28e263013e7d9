/* SPDX-License-Identifier: MIT */
/* A process per device. */
#include "cli/pool.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "bench/worker.h"
#include "cli/device_listing.h"
#include "cli/patience.h"
#include "cli/pool_device.h"
#include "cli/progress.h"

enum { MOST_DEVICES = 64, NAME_BYTES = 256, MOST_TRIES = 2, WINDOWS_AHEAD = 16, TICK_MS = 100 };

static const double times_late = 4, times_lost = 20; /* as long as its windows took, and as cli_patience says */

typedef struct job {
    bool is_done;
    int workers, tries;   /* members at it; members that failed with it */
    double share, passed; /* of all inputs read with it */
    clf_str bytes;
    clf_text *texts; /* as cli_pool_texts has them */
    size_t text_count;
    size_t *lines; /* as cli_inputs has them, with name and unit */
    const char *name, *unit;
    size_t count, window, first;
    float *rows;
} job;

typedef struct member {
    char device[NAME_BYTES]; /* selector; "" = default */
    clfi_worker worker;
    bool is_open;              /* has the model, */
    const char *linear_engine; /* of which this is */
    bool is_busy;              /* with the job of this number, which another may have done meanwhile */
    bool is_told;              /* that it takes long */
    uint64_t number;
    uint64_t since_ns;    /* that it works, or opens the model */
    double work, seconds; /* of all windows that it has answered */
} member;

typedef struct cli_pool {
    member members[MOST_DEVICES];
    size_t count;
    job *jobs; /* ring */
    size_t capacity, used;
    uint64_t first; /* number of the oldest job in it; they are counted from the start */
    size_t width;
} cli_pool;

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

/* Of an answer that has begun. CLF_OK, or why it ends early. */
static clf_status receive(clfi_worker *worker, void *data, size_t size)
{
    const clfi_patience patience = {cli_patience.move, NULL};
    const clfi_message_end end = clfi_message_receive_bytes(worker->socket, &patience, data, size);
    if (end == CLFI_MESSAGE_LATE) {
        clfi_worker_stop(worker);
        CLF_FAIL(CLF_DEVICE, "the device's process stopped in the middle of an answer");
    }
    return end == CLFI_MESSAGE_OK ? CLF_OK : clfi_worker_lost(worker, end);
}

/* CLF_OK, or why there is no answer or a bad one. */
static clf_status receive_answer(clfi_worker *worker, cli_pool_reply *answer)
{
    CLF_TRY(receive(worker, answer, sizeof *answer));
    answer->reason[CLI_POOL_REASON_BYTES - 1] = '\0';
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

static double seconds_since(uint64_t ns)
{
    return (double)(clfi_now_ns() - ns) / 1e9;
}

static bool is_alive(const member *m)
{
    return m->worker.process > 0;
}

static bool is_opening(const member *m)
{
    return is_alive(m) && !m->is_open;
}

static bool is_open(const member *m)
{
    return is_alive(m) && m->is_open;
}

static bool is_free(const member *m)
{
    return is_open(m) && !m->is_busy;
}

static size_t count_members(const cli_pool *pool, bool (*which)(const member *))
{
    size_t count = 0;
    for (size_t i = 0; i < pool->count; i++)
        count += which(&pool->members[i]);
    return count;
}

/* Whether no other lives. */
static bool is_last(const cli_pool *pool, const member *m)
{
    return count_members(pool, is_alive) == (size_t)is_alive(m);
}

/* Waits for a moment: who of those for whom `which` holds has something to tell, or is gone. */
static clf_status wait_for(cli_pool *pool, bool (*which)(const member *), member *out[MOST_DEVICES], size_t *out_count)
{
    struct pollfd polls[MOST_DEVICES];
    member *who[MOST_DEVICES];
    nfds_t count = 0;
    *out_count = 0;
    for (size_t i = 0; i < pool->count; i++)
        if (which(&pool->members[i])) {
            who[count] = &pool->members[i];
            polls[count++] = (struct pollfd){.fd = pool->members[i].worker.socket, .events = POLLIN};
        }
    const int ready = poll(polls, count, TICK_MS);
    if (ready < 0 && errno != EINTR)
        CLF_FAIL(CLF_IO, "poll: %s", strerror(errno));
    for (nfds_t i = 0; ready > 0 && i < count; i++)
        if (polls[i].revents)
            out[(*out_count)++] = who[i];
    return CLF_OK;
}

/* The answer of a member that has opened the model, or not. A failure is returned only where there is no other member. */
static clf_status take_opening(cli_pool *pool, member *m)
{
    cli_pool_reply answer;
    const clf_status st = receive_answer(&m->worker, &answer);
    m->is_open = st == CLF_OK;
    m->linear_engine = m->is_open ? answer.linear_engine : NULL;
    m->is_told = false;
    if (st == CLF_OK || is_last(pool, m))
        return st;
    say_lost(m, "it is left out");
    return CLF_OK;
}

static clf_status fork_member(member *m, const cli_session *session, const char *directory)
{
    const cli_pool_place at = {session, directory, m->device};
    const struct timeval limit = {.tv_sec = (time_t)cli_patience.move};
    m->since_ns = clfi_now_ns();
    CLF_TRY(clfi_worker_fork(cli_pool_serve, &at, &m->worker));
    if (setsockopt(m->worker.socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0) /* of one that reads no longer */
        CLF_FAIL(CLF_IO, "setsockopt: %s", strerror(errno));
    return CLF_OK;
}

/* Until all have opened the model or failed, or some have and the others are late. */
static clf_status start_members(cli_pool *pool, const cli_session *session, const char *directory)
{
    const uint64_t start_ns = clfi_now_ns();
    double until = cli_patience.lost;
    if (!pool->count)
        CLF_FAIL(CLF_NOT_FOUND, "there is no device that can be used");
    for (size_t i = 0; i < pool->count; i++)
        CLF_TRY(fork_member(&pool->members[i], session, directory));
    while (count_members(pool, is_opening) && seconds_since(start_ns) < until) {
        member *ready[MOST_DEVICES];
        size_t count;
        CLF_TRY(wait_for(pool, is_opening, ready, &count));
        for (size_t i = 0; i < count; i++)
            CLF_TRY(take_opening(pool, ready[i]));
        const double took = seconds_since(start_ns);
        if (until == cli_patience.lost && count_members(pool, is_open))
            until = took + fmax(times_late * took, cli_patience.open);
    }
    if (!count_members(pool, is_open))
        CLF_FAIL(CLF_DEVICE, "no device has opened the model within %g s", cli_patience.lost);
    for (size_t i = 0; i < pool->count; i++)
        if (is_opening(&pool->members[i]))
            fprintf(stderr, "clformer: device %s: has not opened the model in %.0f s; it takes part once it has\n",
                    name_of(&pool->members[i]), seconds_since(start_ns));
    return CLF_OK;
}

static void clear_job(job *j)
{
    clfi_str_free(&j->bytes);
    free(j->texts);
    free(j->lines);
    free(j->rows);
    *j = (job){.is_done = false};
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

static clf_status start(cli_session *session, const char *devices, const char *directory, const char **out_engine)
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
    while (first + 1 < pool->count && !is_open(&pool->members[first]))
        first++;
    session->device = pool->members[first].device[0] ? pool->members[first].device : NULL;
    *out_engine = pool->members[first].linear_engine;
    session->pool = pool;
    session->stop_pool = stop;
    return CLF_OK;
}

clf_status cli_pool_open_model(cli_session *session, const char *directory)
{
    const char *devices = cli_devices_asked(session), *engine;
    if (!devices)
        return cli_session_open_model(session, directory);
    CLF_TRY(start(session, devices, directory, &engine));
    return cli_session_describe_model(session, directory, engine);
}

/* ---- Windows ---- */

size_t cli_pool_size(const cli_session *session)
{
    return session->pool ? session->pool->count : 1;
}

static job *job_of(const cli_pool *pool, uint64_t number)
{
    return &pool->jobs[number % pool->capacity];
}

/* What a member works at; NULL: nothing, or what another has done by now. */
static job *own_job(const cli_pool *pool, const member *m)
{
    job *j = m->is_busy && m->number >= pool->first ? job_of(pool, m->number) : NULL;
    return j && !j->is_done ? j : NULL;
}

/* The next window of the inputs into the ring; *out_any false: there is none. */
static clf_status read_window(cli_pool *pool, const cli_pool_task *what, cli_inputs *inputs, bool *out_any)
{
    CLF_TRY(cli_inputs_next(inputs));
    *out_any = inputs->count > 0;
    if (!*out_any)
        return CLF_OK;
    job *j = job_of(pool, pool->first + pool->used++);
    *j = (job){.name = inputs->name,
               .unit = inputs->unit,
               .count = inputs->count,
               .text_count = cli_pool_texts(what, inputs->count),
               .window = inputs->window,
               .first = inputs->total,
               .share = cli_inputs_share(inputs),
               .passed = cli_inputs_passed_share(inputs)};
    CLF_TRY(clfi_alloc(j->text_count, sizeof *j->texts, "texts", &j->texts));
    CLF_TRY(clfi_alloc(j->count, sizeof *j->lines, "texts", &j->lines));
    memcpy(j->lines, inputs->lines, j->count * sizeof *j->lines);
    for (size_t i = 0; i < j->text_count; i++) {
        j->texts[i] = i < j->count ? inputs->texts[i] : inputs->seconds[i - j->count];
        CLF_TRY(clfi_str_append(&j->bytes, j->texts[i].data, j->texts[i].size));
    }
    const char *at = clfi_str_text(&j->bytes);
    for (size_t i = 0; i < j->text_count; at += j->texts[i++].size)
        j->texts[i].data = at;
    return CLF_OK;
}

/* In a unit of its own: long texts take longer. */
static double work_of(const job *j)
{
    enum { TEXT = 16 };
    return (double)j->bytes.length + TEXT * (double)j->count;
}

/* Seconds that the member should need for it; NaN: it has done nothing yet. */
static double expected(const member *m, const job *j)
{
    return m->work > 0 ? m->seconds * work_of(j) / m->work : NAN;
}

/* The member failed with its texts, or is gone: another takes them. The last error is the reason. */
static clf_status lose(cli_pool *pool, member *m, clf_status st)
{
    job *j = own_job(pool, m);
    m->is_busy = false;
    if (j) {
        j->workers--;
        if (++j->tries >= MOST_TRIES)
            return clfi_fail_prefix(st, "texts %zu to %zu failed on %d devices, at last", j->first + 1, j->first + j->count, j->tries);
    }
    if (is_last(pool, m))
        return clfi_fail_prefix(st, "the last device, %s", name_of(m));
    say_lost(m, !m->is_open  ? "it is left out"
                : !j         ? "another did its texts"
                : j->workers ? "another is at its texts"
                             : "another takes its texts");
    return CLF_OK;
}

/* A member that closed its end is found out when its reply is waited for: it may tell why. */
static clf_status give(cli_pool *pool, member *m, uint64_t number, const cli_pool_task *what)
{
    job *j = job_of(pool, number);
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
    return end == CLFI_MESSAGE_FAILED ? lose(pool, m, clfi_worker_lost(&m->worker, end)) : CLF_OK;
}

/* Whether `other`, which is free, would be done with what `m` is at long before it, as far as anybody can tell. Of a few texts, which cost
 * little, nobody waits to see whether a device that has done nothing yet only compiles kernels. */
static bool is_worth_a_second(const member *m, const job *j, const member *other, bool *out_stalled)
{
    enum { FEW_TEXTS = 16 };
    const double elapsed = seconds_since(m->since_ns), theirs = expected(m, j), own = expected(other, j);
    *out_stalled = elapsed > (isnan(own) ? cli_patience.told : cli_patience.stalled) && !(elapsed <= times_late * own) &&
                   !(elapsed <= times_late * theirs);
    return *out_stalled || theirs - elapsed > 2 * own || (isnan(own) && elapsed > cli_patience.stalled && j->count <= FEW_TEXTS);
}

/* Nothing waits, and not all is done: the end should not be that of a device that is much slower, or answers no more. The first answer
 * counts. */
static clf_status give_second(cli_pool *pool, member *other, const cli_pool_task *what)
{
    for (size_t i = 0; i < pool->count; i++) {
        member *m = &pool->members[i];
        const job *j = own_job(pool, m);
        bool is_stalled;
        if (!j || j->workers > 1 || !is_worth_a_second(m, j, other, &is_stalled))
            continue;
        if (is_stalled) {
            cli_line_clear();
            fprintf(stderr, "clformer: device %s: no answer for %.1f s; another takes its texts as well\n", name_of(m),
                    seconds_since(m->since_ns));
            m->is_told = true;
        }
        return give(pool, other, m->number, what);
    }
    return CLF_OK;
}

static clf_status give_all(cli_pool *pool, const cli_pool_task *what, bool is_all_read)
{
    uint64_t next = pool->first;
    for (size_t i = 0; i < pool->count; i++) {
        member *m = &pool->members[i];
        while (next < pool->first + pool->used && (job_of(pool, next)->is_done || job_of(pool, next)->workers))
            next++;
        if (!is_free(m))
            continue;
        if (next < pool->first + pool->used)
            CLF_TRY(give(pool, m, next, what));
        else if (is_all_read || pool->used == pool->capacity)
            CLF_TRY(give_second(pool, m, what));
    }
    return CLF_OK;
}

/* An answer that another has given before. */
static clf_status pass_over(cli_pool *pool, member *m)
{
    cli_pool_reply answer;
    float rows[4096];
    clf_status st = receive_answer(&m->worker, &answer);
    for (size_t left = st == CLF_OK ? answer.numbers : 0; st == CLF_OK && left;) {
        const size_t some = left < COUNT(rows) ? left : COUNT(rows);
        st = receive(&m->worker, rows, some * sizeof *rows);
        left -= some;
    }
    if (st != CLF_OK)
        return lose(pool, m, st);
    m->is_busy = false;
    return CLF_OK;
}

/* The reply of a member that has one. */
static clf_status take(cli_pool *pool, member *m, clf_embed_stats *stats)
{
    job *j = own_job(pool, m);
    cli_pool_reply answer = {.failed = SIZE_MAX};
    char where[NAME_BYTES];
    if (!j)
        return pass_over(pool, m);
    clf_status st = receive_answer(&m->worker, &answer);
    if (st != CLF_OK && answer.failed < j->count)
        st = clfi_fail_prefix(st, "%s",
                              cli_text_where(j->name, j->unit, j->lines[answer.failed], j->first + answer.failed + 1, where, sizeof where));
    if (st == CLF_OK && answer.numbers != j->count * pool->width)
        st = clfi_fail(CLF_INTERNAL, "device %s: %zu numbers, expected %zu", name_of(m), answer.numbers, j->count * pool->width);
    if (st == CLF_INVALID_ARGUMENT || st == CLF_UNSUPPORTED) /* by the model or the options: another device would say the same */
        return st;
    if (st != CLF_OK)
        return lose(pool, m, st);
    if (!j->rows)
        CLF_TRY(clfi_alloc(j->count * pool->width, sizeof *j->rows, "results", &j->rows));
    st = receive(&m->worker, j->rows, answer.numbers * sizeof *j->rows);
    if (st != CLF_OK)
        return lose(pool, m, st);
    m->is_busy = false;
    m->work += work_of(j);
    m->seconds += seconds_since(m->since_ns);
    j->is_done = true;
    cli_add_stats(stats, &answer.stats);
    return CLF_OK;
}

static bool may_answer(const member *m)
{
    return is_opening(m) || (is_alive(m) && m->is_busy);
}

/* What takes long is told, what takes far too long is lost. */
static clf_status check_patience(cli_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++) {
        member *m = &pool->members[i];
        const job *j = own_job(pool, m);
        const double elapsed = seconds_since(m->since_ns), usual = j ? expected(m, j) : NAN;
        if (!may_answer(m) || (m->is_open && !j && m->work > 0)) /* another did the texts of one that has answered before, and is slow */
            continue;
        if (elapsed > cli_patience.lost && !(elapsed <= times_lost * usual)) {
            clfi_worker_stop(&m->worker);
            CLF_TRY(lose(pool, m, clfi_fail(CLF_DEVICE, "no answer for %.0f s; its process was ended", elapsed)));
        } else if (elapsed > cli_patience.told && !m->is_told && !(elapsed <= times_late * usual)) {
            cli_line_clear();
            fprintf(stderr, "clformer: device %s: no answer for %.0f s; it may compile kernels, and is ended after %.0f min\n", name_of(m),
                    elapsed, cli_patience.lost / 60);
            m->is_told = true;
        }
    }
    return CLF_OK;
}

static clf_status wait_replies(cli_pool *pool, clf_embed_stats *stats)
{
    member *ready[MOST_DEVICES];
    size_t count;
    CLF_TRY(wait_for(pool, may_answer, ready, &count));
    for (size_t i = 0; i < count; i++)
        CLF_TRY(is_opening(ready[i]) ? take_opening(pool, ready[i]) : take(pool, ready[i], stats));
    return check_patience(pool);
}

/* The oldest windows, as far as they are done, to the sink. */
static clf_status deliver(cli_pool *pool, cli_progress *progress, cli_embedding_sink sink, void *user)
{
    while (pool->used && job_of(pool, pool->first)->is_done) {
        job *j = job_of(pool, pool->first);
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
        while (any && pool->used < pool->capacity && waiting <= count_members(pool, is_free)) { /* one more than can begin */
            CLF_TRY(read_window(pool, what, inputs, &any));
            waiting += any;
        }
        if (!any && pool->used == 0)
            return CLF_OK; /* all that was read is delivered */
        CLF_TRY(give_all(pool, what, !any));
        CLF_TRY(wait_replies(pool, stats));
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
        return clf_model_embed(session->model, texts, count, &params, rows, NULL);
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
