/* SPDX-License-Identifier: MIT */
/* Writes replies, and errors in the form of each dialect. */
#include "serve/call.h"

#include "io/json.h"

bool srv_refuse_memory(srv_call *call)
{
    return srv_refuse(&call->error, SRV_FAULT_OVERLOADED, NULL, "not enough memory for the answer");
}

bool srv_begin_job(srv_call *call, const srv_model *model)
{
    if (srv_job_create(model, &call->job) != CLF_OK)
        return srv_refuse_memory(call);
    call->job->body = call->body;
    call->body = NULL;
    if (call->watch)
        call->watch(call);
    return true;
}

bool srv_check_wanted(srv_call *call)
{
    srv_job *job = call->job;
    pthread_mutex_lock(&job->lock);
    const bool is_over = job->state == SRV_JOB_DONE;
    if (is_over)
        call->error = job->error;
    pthread_mutex_unlock(&job->lock);
    return !is_over;
}

bool srv_check_ready(srv_call *call)
{
    const bool is_draining = atomic_load(&call->state->is_draining);
    if (atomic_load(&call->state->is_ready) && !is_draining)
        return true;
    return srv_refuse(&call->error, SRV_FAULT_UNREADY, NULL,
                      is_draining ? "the server is shutting down" : "models are still loading: try again later");
}

bool srv_reply_body(srv_call *call, clf_status st, const char *type)
{
    if (st != CLF_OK)
        return srv_refuse_memory(call);
    call->reply.status = 200;
    call->reply.type = type;
    return true;
}

bool srv_reply_json(srv_call *call, json_t *value)
{
    const clf_status st = clfi_json_write(value, JSON_COMPACT | JSON_REAL_PRECISION(9), "answer", &call->reply.body);
    json_decref(value);
    return srv_reply_body(call, st, SRV_JSON);
}

json_t *srv_openai_error(const srv_error *error)
{
    const srv_fault_words *words = srv_fault_row(error->fault);
    return json_pack("{s:{s:s, s:s, s:s?, s:s?}}", "error", "message", error->message, "type", words->type, "param",
                     error->param[0] ? error->param : NULL, "code", words->code);
}

static json_t *error_object(const srv_call *call)
{
    const srv_error *error = &call->error;
    switch (call->dialect) {
    case SRV_TEI:
        return json_pack("{s:s, s:s}", "error", error->message, "error_type", srv_fault_row(error->fault)->tei_word);
    case SRV_OLLAMA:
        return json_pack("{s:s}", "error", error->message);
    case SRV_COHERE: {
        json_t *object = srv_openai_error(error);
        if (object)
            json_object_set_new(object, "message", json_string(error->message));
        return object;
    }
    case SRV_OPENAI:
        break;
    }
    return srv_openai_error(error);
}

void srv_reply_error(srv_call *call)
{
    const srv_fault_words *words = srv_fault_row(call->error.fault);
    json_t *object = error_object(call);
    clfi_str_clear(&call->reply.body);
    const clf_status st = clfi_json_write(object, JSON_COMPACT, "answer", &call->reply.body);
    json_decref(object);
    if (st != CLF_OK)
        clfi_str_clear(&call->reply.body); /* the client gets the status alone */
    call->reply.status = call->dialect == SRV_TEI ? words->tei_status : words->status;
    call->reply.type = SRV_JSON;
}

clf_status srv_stream_error(const srv_call *call, const srv_error *error, clf_str *out)
{
    json_t *object = call->dialect == SRV_OLLAMA ? json_pack("{s:s}", "error", error->message) : srv_openai_error(error);
    clf_status st = call->dialect == SRV_OLLAMA ? CLF_OK : clfi_str_append_text(out, "data: ");
    if (st == CLF_OK)
        st = clfi_json_write(object, JSON_COMPACT, "answer", out);
    json_decref(object);
    return st == CLF_OK ? clfi_str_append_text(out, call->dialect == SRV_OLLAMA ? "\n" : "\n\n") : st;
}
