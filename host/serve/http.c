/* SPDX-License-Identifier: MIT */
/* The HTTP side: a pool of threads that read requests; answers.c writes the answers. A request that waits for its job holds no thread.
 *
 * libmicrohttpd calls handle() for a request's headers, for each piece of its body, at its end, and again each time that the connection is
 * resumed. A connection that waits for a job is suspended; the job resumes it (srv_answer_sleep). */
#include "serve/http.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "serve/acceptor.h"
#include "serve/answers.h"
#include "serve/fields.h"
#include "serve/head.h"
#include "serve/target.h"
#include "serve/text_asks.h"

enum { THREADS = 4, MOST_CONNECTIONS = 4096, CONNECTION_BYTES = 128 << 10 };

/* Memory of requests. The JSON values of one body may have VALUES_FACTOR times --max-body and VALUES_LEAST bytes. The bodies and values of
 * all requests may have BODIES_FACTOR times --max-body. The first FREE_BYTES of each do not count, so that large bodies, which may come
 * slowly, do not keep out small ones. */
enum { VALUES_FACTOR = 8, VALUES_LEAST = 64 << 10, BODIES_FACTOR = 32, FREE_BYTES = 64 << 10 };

struct srv_http {
    srv_http_params params;
    struct MHD_Daemon *daemon;
    srv_acceptor *acceptor; /* NULL: no more connections */
    srv_watch *watch;
    atomic_ulong next_id;
    atomic_size_t held; /* sum of srv_request.held */
};

/* The connection whose request has just ended; NULL: this thread has heard of another connection since. Only its address is used. */
static _Thread_local const srv_connection *just_ended;

/* ---- Beginnings and ends ---- */

/* libmicrohttpd's URI logger, called when the first line of a request has come. The result becomes *context of handle(). */
static void *begin_request(void *user, const char *uri, struct MHD_Connection *connection)
{
    srv_http *http = user;
    srv_request *r;
    just_ended = NULL;
    if (clfi_alloc(1, sizeof *r, "request", &r) != CLF_OK)
        return NULL;
    r->http = http;
    r->connection = connection;
    r->watch = http->watch;
    r->start_ns = clfi_now_ns();
    r->call.state = http->params.state;
    r->target = uri;
    r->target_size = strlen(uri);
    if (r->target_size > SRV_URI_BYTES)
        srv_refuse(&r->call.error, SRV_FAULT_URI, NULL, "the URL has %zu bytes: expected at most %d", r->target_size, SRV_URI_BYTES);
    if (srv_target_path(uri, &r->path) != CLF_OK) {
        free(r);
        return NULL;
    }
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    r->watched = info ? info->socket_context : NULL;
    if (r->watched) {
        r->watched->request = r;
        srv_watch_set(http->watch, r->watched, SRV_PHASE_READING, NULL);
    }
    return r;
}

/* Tokens of the request's texts, and of what has been generated. A worker may still add some if the client has left. */
static size_t tokens_of(srv_job *job)
{
    pthread_mutex_lock(&job->lock);
    const size_t sum = job->rows.tokens + srv_texts_prompt_tokens(job) + srv_texts_tokens(job);
    pthread_mutex_unlock(&job->lock);
    return sum;
}

/* is_malformed: libmicrohttpd refused the message by itself. */
static void log_request(const srv_request *r, bool is_malformed)
{
    srv_job *job = r->call.job;
    const double seconds = (double)(clfi_now_ns() - r->start_ns) * 1e-9;
    const int status = r->is_answered ? r->call.reply.status : srv_fault_row(is_malformed ? SRV_FAULT_MESSAGE : SRV_FAULT_LEFT)->status;
    const size_t index = srv_routes_index(r->route);
    srv_count_request(&r->http->params.state->metrics, index, status, seconds);
    const srv_access access = {.route = srv_routes_name(index),
                               .status = status,
                               .seconds = seconds,
                               .model = job ? job->model->id : NULL,
                               .tokens = job ? tokens_of(job) : 0};
    r->http->params.log(r->http->params.log_user, &access);
}

/* Cancels the job of a request that has ended, unless the job is over. Counts the request if its client left or its time was up. */
static void leave_job(srv_request *r, bool has_left)
{
    srv_job *job = r->call.job;
    srv_error gone;
    if (!job)
        return;
    pthread_mutex_lock(&job->lock);
    has_left |= job->state != SRV_JOB_DONE || job->error.fault == SRV_FAULT_LEFT || job->error.fault == SRV_FAULT_LATE;
    job->wake = NULL;
    pthread_mutex_unlock(&job->lock);
    if (!has_left)
        return;
    srv_count(&r->http->params.state->metrics, SRV_COUNTER_CANCELLED, 1);
    srv_refuse(&gone, SRV_FAULT_LEFT, NULL, "the client has left");
    srv_job_cancel(job, &gone);
    srv_queue_wake(&r->http->params.state->queue);
}

/* Notes how many bytes of memory the body or its JSON values occupy. False: those of all requests are too many, and this one is refused. */
static bool hold(srv_request *r, size_t bytes)
{
    const size_t counted = bytes > FREE_BYTES ? bytes - FREE_BYTES : 0, change = counted - r->held;
    const size_t sum = atomic_fetch_add(&r->http->held, change) + change; /* modulo SIZE_MAX + 1, as `change` may be negative */
    r->held = counted;
    if (counted == 0 || sum / BODIES_FACTOR <= r->http->params.state->options->max_body)
        return true;
    srv_count(&r->http->params.state->metrics, SRV_COUNTER_REFUSED, 1);
    return srv_refuse(&r->call.error, SRV_FAULT_OVERLOADED, NULL, "the bodies of all requests together are too large: try again later");
}

/* An MHD_RequestCompletedCallback. */
static void end_request(void *user, struct MHD_Connection *connection, void **context, enum MHD_RequestTerminationCode code)
{
    srv_request *r = *context;
    (void)user;
    (void)connection;
    if (!r)
        return;
    *context = NULL;
    leave_job(r, code != MHD_REQUEST_TERMINATED_COMPLETED_OK);
    if (r->watched) {
        r->watched->request = NULL;
        just_ended = r->watched;
        srv_watch_set(r->watch, r->watched, SRV_PHASE_IDLE, NULL);
    }
    log_request(r, code == MHD_REQUEST_TERMINATED_WITH_ERROR && !r->is_complete);
    if (r->is_counted)
        atomic_fetch_sub(&r->http->params.state->in_flight, 1);
    srv_job_release(r->call.job);
    json_decref(r->call.body);
    clfi_str_free(&r->call.reply.body);
    clfi_str_free(&r->body);
    (void)hold(r, 0);
    clfi_str_free(&r->stream);
    free(r->path);
    free(r);
}

/* An MHD_NotifyConnectionCallback, called by the thread that serves the connection. */
static void watch_connection(void *user, struct MHD_Connection *connection, void **context, enum MHD_ConnectionNotificationCode code)
{
    srv_http *http = user;
    just_ended = NULL;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        srv_connection *watched;
        srv_watch_open(http->watch, info ? info->connect_fd : -1, &watched);
        *context = watched;
        srv_count_connection(&http->params.state->metrics, 1);
    } else {
        if (*context)
            srv_watch_close(http->watch, *context);
        *context = NULL;
        srv_count_connection(&http->params.state->metrics, -1);
    }
}

/* ---- Jobs ---- */

/* A srv_call's `watch`. */
static void watch_job(srv_call *call)
{
    const srv_request *r = (srv_request *)((char *)call - offsetof(srv_request, call));
    if (r->watched)
        srv_watch_set(r->watch, r->watched, SRV_PHASE_WAITING, call->job);
}

/* Gives the job to the workers, unless it was cancelled while it was made. */
static enum MHD_Result submit(srv_request *r)
{
    srv_state *state = r->http->params.state;
    srv_job *job = r->call.job;
    srv_error full;
    if (srv_job_is_rows(job) && !r->call.wire.texts) { /* its token ids suffice from here on */
        json_decref(job->body);
        job->body = NULL;
        (void)hold(r, 0);
    }
    pthread_mutex_lock(&job->lock);
    const bool is_over = job->state == SRV_JOB_DONE;
    if (!is_over)
        srv_answer_sleep(r);
    pthread_mutex_unlock(&job->lock);
    if (is_over)
        return srv_answer_job(r);
    if (!srv_queue_push(&state->queue, job)) {
        srv_count(&state->metrics, SRV_COUNTER_REFUSED, 1);
        srv_refuse(&full, SRV_FAULT_OVERLOADED, NULL, "the queue is full (%zu requests wait for the model): try again later",
                   state->options->max_queue);
        srv_job_finish(job, &full);
    }
    return MHD_YES;
}

/* ---- Requests ---- */

/* Whether libmicrohttpd may mean this connection when it refuses one with this status and text. A connection without a request has a
 * malformed first line, whose bytes have just been read, or were read together with its last request. */
static bool may_be_malformed(const srv_connection *connection, unsigned status, const char *text)
{
    const srv_request *r = connection->request;
    const bool is_first_line = status == 505 || status == 414, is_chunk = strstr(text, "chunked") != NULL;
    if (connection->lingers) /* it has its error, and is being closed */
        return false;
    if (strstr(text, "Content-Length"))
        return r && !r->has_headers && srv_head_has_bad_length(r->connection);
    if (!r)
        return (is_first_line || (status == 400 && !is_chunk)) && (connection == just_ended || srv_watch_has_read(connection));
    if (r->is_answered || r->is_complete || status == 505)
        return false;
    return r->has_headers ? !is_first_line : !is_chunk;
}

/* libmicrohttpd's logger. It logs an error before it answers a malformed message by itself: with a text in HTML, and with two heads if the
 * Content-Length is malformed. The logger is not told which connection it is. If only one of the thread's connections can be, it gets the
 * server's own error, and its socket is shut down for what would follow. */
static void refuse_malformed(void *user, const char *format, va_list arguments)
{
    static const char begin[] = "Error processing request (HTTP response code is %u ('%s'))";
    srv_http *http = user;
    srv_connection *found = NULL;
    if (strncmp(format, begin, sizeof begin - 1) != 0)
        return;
    const unsigned status = va_arg(arguments, unsigned);
    const char *text = va_arg(arguments, const char *);
    for (srv_connection *c = srv_watch_own(); c; c = c->own_next) {
        if (!may_be_malformed(c, status, text))
            continue;
        if (found)
            return;
        found = c;
    }
    if (!found)
        return;
    srv_request first_line = {
        .http = http, .watch = http->watch, .watched = found, .call = {.state = http->params.state}, .start_ns = clfi_now_ns()};
    srv_request *r = found->request ? found->request : &first_line;
    const srv_fault fault = status == 414                     ? SRV_FAULT_URI
                            : status == 431                   ? SRV_FAULT_HEADERS
                            : status == 501                   ? SRV_FAULT_NOT_BUILT
                            : status == 413 && r->has_headers ? SRV_FAULT_BODY
                                                              : SRV_FAULT_MESSAGE;
    r->call.dialect = r->path ? srv_routes_dialect(r->path) : SRV_OPENAI;
    srv_refuse(&r->call.error, fault, NULL, "the request's %s: expected a message of HTTP/1.1",
               r->has_headers ? "body"
               : r->path      ? "head"
                              : "first line");
    (void)srv_answer_cut_off(r);
    shutdown(found->fd, SHUT_WR);
    if (r == &first_line) {
        log_request(r, true);
        clfi_str_free(&r->call.reply.body);
    }
}

static bool check_access(srv_request *r, const srv_headers *headers, const char *method)
{
    const srv_http_params *params = &r->http->params;
    char allow[64];
    r->route = srv_routes_find(method, r->path, &r->call.rest, allow, sizeof allow);
    r->call.dialect = r->route ? r->route->dialect : srv_routes_dialect(r->path);
    if (!(r->route && r->route->is_open) && params->key && !srv_headers_have_key(headers, params->key))
        return srv_refuse(&r->call.error, SRV_FAULT_KEY, NULL, "expected the header Authorization: Bearer KEY with this server's key");
    if (!r->route && allow[0]) {
        memcpy(r->allow, allow, sizeof allow);
        r->call.reply.allow = r->allow;
        return srv_refuse(&r->call.error, SRV_FAULT_METHOD, NULL, "the path does not support this method: expected %s", allow);
    }
    if (!r->route)
        return srv_refuse(&r->call.error, SRV_FAULT_NO_ROUTE, NULL, "unknown path");
    if (strcmp(r->route->method, "POST") != 0)
        return true;
    if (srv_headers_are_foreign(headers, params->state->options->origin, params->is_local))
        return srv_refuse(&r->call.error, SRV_FAULT_ORIGIN, NULL,
                          "Origin: pages of other sites may not use this server (allow a site: clformer serve --cors ORIGIN)");
    return srv_headers_check_type(headers, &r->call.error);
}

/* Answers OPTIONS of any path, also without the key, which browsers leave out of such requests. An unknown path gets all methods. */
static enum MHD_Result answer_options(srv_request *r)
{
    const char *rest;
    srv_routes_find("OPTIONS", r->path, &rest, r->allow, sizeof r->allow);
    r->call.reply.allow = r->allow[0] ? r->allow : "GET, POST, OPTIONS";
    r->call.reply.status = 204;
    return srv_answer(r);
}

static bool body_too_large(srv_request *r)
{
    return srv_refuse(&r->call.error, SRV_FAULT_BODY, NULL, "the request's body: expected at most %zu bytes (--max-body)",
                      r->http->params.state->options->max_body);
}

/* Handles the headers of a request. A malformed message, a body that is too large, and a refused client that waits for 100 Continue get
 * their error at once, and the connection ends. Other errors, and the answer to OPTIONS with a body, are sent after the body was read, so
 * that the connection can be kept. */
static enum MHD_Result begin(srv_request *r, const char *method, const char *version)
{
    srv_headers headers;
    const bool is_modern = strcmp(version, "HTTP/1.0") != 0,
               is_whole = srv_head_read(r->connection, method, r->target, r->target_size, version, &headers);
    r->has_headers = true;
    if (r->watched)
        r->watched->is_modern = is_modern;
    r->call.dialect = srv_routes_dialect(r->path);
    if (r->call.error.fault != SRV_FAULT_NONE || !srv_headers_check(&headers, is_modern, &r->call.error))
        return srv_answer_cut_off(r);
    if (!is_whole) {
        srv_refuse(&r->call.error, SRV_FAULT_MESSAGE, NULL,
                   "the head has a NUL, a header without a name, a header of several lines, or several spaces in its first line");
        return srv_answer_cut_off(r);
    }
    if (headers.lengths && headers.length > r->http->params.state->options->max_body) {
        body_too_large(r);
        return srv_answer_early(r);
    }
    if (strcmp(method, "OPTIONS") == 0)
        return headers.length == 0 && headers.codings == 0 ? answer_options(r) : MHD_YES;
    if (!check_access(r, &headers, method) && headers.expects)
        return srv_answer_early(r);
    return MHD_YES;
}

static enum MHD_Result take_body(srv_request *r, const char *data, size_t size)
{
    const size_t most = r->http->params.state->options->max_body;
    if (r->sent + size > most) { /* `sent` counts what came, also of bodies that are not kept */
        body_too_large(r);
        return srv_answer_cut_off(r);
    }
    r->sent += size;
    if (r->watched)
        srv_watch_receive(r->watch, r->watched, size);
    if (!r->route || r->call.error.fault != SRV_FAULT_NONE)
        return MHD_YES;
    if (clfi_str_append(&r->body, data, size) != CLF_OK)
        srv_refuse_memory(&r->call);
    else if (hold(r, r->body.capacity))
        return MHD_YES;
    clfi_str_free(&r->body);
    (void)hold(r, 0);
    return MHD_YES;
}

static bool parse_body(srv_request *r)
{
    srv_call *call = &r->call;
    const size_t most = VALUES_FACTOR * r->http->params.state->options->max_body + VALUES_LEAST;
    size_t bytes;
    if (!srv_parse_body(clfi_str_text(&r->body), r->body.length, most, &call->body, &bytes, &call->error))
        return false;
    clfi_str_free(&r->body);
    return hold(r, bytes);
}

static bool run_route(srv_request *r)
{
    srv_call *call = &r->call;
    if (!r->route->is_open && !srv_check_ready(call))
        return false;
    if (strcmp(r->route->method, "POST") == 0 && !parse_body(r))
        return false;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    call->wire.created = now.tv_sec;
    snprintf(call->wire.id, sizeof call->wire.id, "clf-%lx-%lx", (unsigned long)now.tv_nsec ^ (unsigned long)now.tv_sec,
             atomic_fetch_add(&r->http->next_id, 1));
    return r->route->begin(call);
}

/* Handles a request whose body has been read. */
static enum MHD_Result complete(srv_request *r)
{
    r->is_complete = true;
    r->sent = 0;
    r->is_counted = true;
    atomic_fetch_add(&r->http->params.state->in_flight, 1);
    if (r->call.error.fault != SRV_FAULT_NONE)
        return srv_answer_error(r);
    if (!r->route)
        return answer_options(r);
    r->call.watch = watch_job;
    if (!run_route(r)) {
        if (r->call.job && srv_check_wanted(&r->call)) {
            srv_job_release(r->call.job);
            r->call.job = NULL;
        }
        return srv_answer_error(r);
    }
    return r->call.job ? submit(r) : srv_answer(r);
}

/* An MHD_AccessHandlerCallback. */
static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
                              const char *data, size_t *size, void **context)
{
    srv_request *r = *context;
    (void)user;
    (void)connection;
    (void)url;
    if (!r)
        return MHD_NO;
    if (!r->has_headers)
        return begin(r, method, version);
    if (*size) {
        const enum MHD_Result result = take_body(r, data, *size);
        *size = 0;
        return result;
    }
    return r->is_complete ? srv_answer_job(r) : complete(r);
}

/* ---- The daemon ---- */

/* The acceptor's `take`. If there are too many connections, libmicrohttpd closes this one. */
static void take_connection(void *user, int fd, const struct sockaddr *address, socklen_t size)
{
    srv_http *http = user;
    (void)MHD_add_connection(http->daemon, fd, address, size);
}

clf_status srv_http_start(const srv_http_params *params, srv_http **out)
{
    srv_http *http;
    clf_status st;
    CLF_TRY(clfi_alloc(1, sizeof *http, "server", &http));
    http->params = *params;
    /* Strict: 1.0 otherwise answers spaces in a target with a redirection, and reads headers of several lines. */
    CLF_GOTO(srv_watch_start(params->state->options->timeout, &params->state->queue, &http->watch));
    http->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG,
                                    0, NULL, NULL, handle, http, MHD_OPTION_EXTERNAL_LOGGER, refuse_malformed, http,
                                    MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS,
                                    MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                    (size_t)CONNECTION_BYTES, MHD_OPTION_URI_LOG_CALLBACK, begin_request, http, MHD_OPTION_NOTIFY_COMPLETED,
                                    end_request, http, MHD_OPTION_NOTIFY_CONNECTION, watch_connection, http, MHD_OPTION_END);
    if (!http->daemon)
        CLF_GOTO(clfi_fail(CLF_IO, "serve: libmicrohttpd cannot start its threads"));
    CLF_GOTO(srv_acceptor_start(params->socket, take_connection, http, &http->acceptor));
    *out = http;
    return CLF_OK;
done:
    srv_http_stop(http);
    return st;
}

void srv_http_quiesce(srv_http *http)
{
    srv_acceptor_stop(http->acceptor);
    http->acceptor = NULL;
}

void srv_http_stop(srv_http *http)
{
    if (!http)
        return;
    srv_http_quiesce(http);
    if (http->daemon)
        MHD_stop_daemon(http->daemon);
    srv_watch_stop(http->watch);
    free(http);
}
