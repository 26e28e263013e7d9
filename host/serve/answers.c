/* SPDX-License-Identifier: MIT */
/* Writes answers: whole ones, errors and streams. */
#include "serve/answers.h"

#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "serve/headers.h"
#include "serve/text_asks.h"

enum { STREAM_BYTES = 16 << 10 };

/* Allows pages of the origin of --cors. Their clients send headers of their own, which the browser asks for by name (OPTIONS). */
static void add_cors_headers(const srv_request *r, struct MHD_Response *response)
{
    const char *asked = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "Access-Control-Request-Headers");
    MHD_add_response_header(response, "Access-Control-Allow-Origin", r->call.state->options->origin);
    MHD_add_response_header(response, "Access-Control-Allow-Methods", "GET, POST, OPTIONS");
    MHD_add_response_header(response, "Access-Control-Allow-Headers", srv_is_name_list(asked) ? asked : "authorization, content-type");
    MHD_add_response_header(response, "Access-Control-Expose-Headers", "Retry-After");
    MHD_add_response_header(response, "Vary", "Origin, Access-Control-Request-Headers");
}

static void add_headers(const srv_request *r, struct MHD_Response *response)
{
    const int status = r->call.reply.status;
    if (r->call.reply.type)
        MHD_add_response_header(response, "Content-Type", r->call.reply.type);
    if (r->call.reply.allow)
        MHD_add_response_header(response, "Allow", r->call.reply.allow);
    if (status == 401)
        MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (status == 429 || (status == 503 && r->call.error.fault != SRV_FAULT_NONE))
        MHD_add_response_header(response, "Retry-After", "1");
    if (r->call.state->options->origin)
        add_cors_headers(r, response);
    if (r->closes || atomic_load(&r->call.state->is_draining))
        MHD_add_response_header(response, "Connection", "close");
}

static enum MHD_Result queue_response(srv_request *r, struct MHD_Response *response)
{
    if (!response)
        return MHD_NO;
    add_headers(r, response);
    r->is_answered = true;
    if (r->watched)
        srv_watch_set(r->watch, r->watched, SRV_PHASE_SENDING,
                      r->call.stream && r->call.job && r->call.job->is_stream ? r->call.job : NULL);
    const enum MHD_Result result = MHD_queue_response(r->connection, (unsigned)r->call.reply.status, response);
    MHD_destroy_response(response);
    return result;
}

enum MHD_Result srv_answer(srv_request *r)
{
    clf_str *body = &r->call.reply.body;
    struct MHD_Response *response = MHD_create_response_from_buffer(body->length, body->data ? body->data : "",
                                                                    body->data ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
    if (response)
        *body = (clf_str)CLF_STR_INIT;
    return queue_response(r, response);
}

enum MHD_Result srv_answer_error(srv_request *r)
{
    srv_reply_error(&r->call);
    return srv_answer(r);
}

enum MHD_Result srv_answer_early(srv_request *r)
{
    r->closes = true;
    if (r->watched)
        r->watched->lingers = true;
    return srv_answer_error(r);
}

enum MHD_Result srv_answer_cut_off(srv_request *r)
{
    clf_str text = CLF_STR_INIT;
    srv_reply_error(&r->call);
    const clf_str *body = &r->call.reply.body;
    if (r->watched &&
        clfi_str_appendf(&text, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
                         r->call.reply.status, MHD_get_reason_phrase_for((unsigned)r->call.reply.status), r->call.reply.type,
                         body->length) == CLF_OK &&
        clfi_str_append(&text, clfi_str_text(body), body->length) == CLF_OK) {
        r->watched->lingers = true;
        r->is_answered = send(r->watched->fd, text.data, text.length, MSG_NOSIGNAL) == (ssize_t)text.length;
    }
    clfi_str_free(&text);
    return MHD_NO;
}

/* ---- Waiting ---- */

/* Wakes the connection of a job; the job's lock is held. */
static void wake(void *user)
{
    const srv_request *r = user;
    MHD_resume_connection(r->connection);
}

void srv_answer_sleep(srv_request *r)
{
    r->call.job->wake = wake;
    r->call.job->wake_user = r;
    MHD_suspend_connection(r->connection);
}

/* Adds a comment to a stream that was silent for SRV_PING_NS. It keeps the connection open and shows whether the client has left. Lines of
 * JSON (Ollama) have no comments. */
static clf_status ping(srv_request *r)
{
    const uint64_t now = clfi_now_ns();
    if (r->stream.length)
        r->sent_ns = now;
    if (r->stream.length || now - r->sent_ns < SRV_PING_NS || r->call.dialect == SRV_OLLAMA)
        return CLF_OK;
    r->sent_ns = now;
    return clfi_str_append_text(&r->stream, ":\n\n");
}

static clf_status next_pieces(srv_request *r, bool *out_sleeps)
{
    srv_job *job = r->call.job;
    clfi_str_clear(&r->stream);
    r->sent = 0;
    pthread_mutex_lock(&job->lock);
    clf_status st = r->call.stream(&r->call, &r->stream, &r->stream_ended);
    if (st == CLF_OK && !r->stream_ended)
        st = ping(r);
    *out_sleeps = st == CLF_OK && !r->stream_ended && r->stream.length == 0;
    if (*out_sleeps)
        srv_answer_sleep(r);
    pthread_mutex_unlock(&job->lock);
    return st;
}

/* Ends the stream with an error because there was no memory for a piece. False: there is no memory for the error either. */
static bool end_stream(srv_request *r)
{
    srv_refuse_memory(&r->call);
    clfi_str_clear(&r->stream);
    r->stream_ended = true;
    return srv_stream_error(&r->call, &r->call.error, &r->stream) == CLF_OK;
}

/* An MHD_ContentReaderCallback. */
static ssize_t read_stream(void *user, uint64_t position, char *out, size_t most)
{
    srv_request *r = user;
    bool sleeps = false;
    (void)position;
    if (r->sent == r->stream.length && !r->stream_ended && next_pieces(r, &sleeps) != CLF_OK && !end_stream(r))
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (sleeps)
        return 0;
    const size_t left = r->stream.length - r->sent, size = left < most ? left : most;
    if (left == 0)
        return MHD_CONTENT_READER_END_OF_STREAM;
    memcpy(out, r->stream.data + r->sent, size);
    r->sent += size;
    return (ssize_t)size;
}

static enum MHD_Result answer_stream(srv_request *r)
{
    r->call.reply.status = 200;
    r->sent_ns = clfi_now_ns();
    r->call.reply.type = r->call.dialect == SRV_OLLAMA ? "application/x-ndjson" : "text/event-stream";
    struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BYTES, read_stream, r, NULL);
    if (response)
        MHD_add_response_header(response, "Cache-Control", "no-cache");
    return queue_response(r, response);
}

enum MHD_Result srv_answer_job(srv_request *r)
{
    srv_job *job = r->call.job;
    pthread_mutex_lock(&job->lock);
    const bool is_over = job->state == SRV_JOB_DONE;
    if (!is_over && !job->is_stream)
        srv_answer_sleep(r);
    r->call.error = job->error;
    pthread_mutex_unlock(&job->lock);
    if (is_over && r->call.error.fault != SRV_FAULT_NONE)
        return srv_answer_error(r);
    if (job->is_stream)
        return answer_stream(r);
    if (!is_over)
        return MHD_YES;
    return r->call.answer(&r->call) ? srv_answer(r) : srv_answer_error(r);
}
