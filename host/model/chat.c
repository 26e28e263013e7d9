/* SPDX-License-Identifier: MIT */
/* Turns conversations into requests (clformer/chat.h). */
#include "clformer/chat.h"

#include <string.h>

#include "base/alloc.h"
#include "base/options.h"
#include "model/chat_prompt.h"
#include "model/scheduler.h"

CLFI_OPTIONS(clf_chat_params, CLF_CHAT_PARAMS_INIT)

static clf_status check_messages(const clf_message *messages, size_t count)
{
    if (count == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "chat: no messages: expected one or more");
    for (size_t i = 0; i < count; i++)
        if (!messages[i].role || (messages[i].content.size && !messages[i].content.data))
            CLF_FAIL(CLF_INVALID_ARGUMENT, "chat: messages[%zu]: %s is NULL", i, messages[i].role ? "content.data" : "role");
    return CLF_OK;
}

/* The session's template, read and parsed at the first call. */
static clf_status open_prompt(clf_session *session)
{
    static const char remedy[] = "clformer chat --special and keeps_control allow it";
    const clf_model *model = session->model;
    if (!(model->tasks & CLF_TASK_GENERATE))
        CLF_FAIL(CLF_UNSUPPORTED, "chat: model_type \"%s\" does not generate text", model->family->model_type);
    if (model->network->config.decoder.has_source)
        CLF_FAIL(CLF_UNSUPPORTED, "chat: model_type \"%s\" has an encoder: expected a decoder-only model", model->family->model_type);
    return session->chat ? CLF_OK : clfi_chat_prompt_open(model->directory, model->tokenizer, remedy, &session->chat);
}

/* The index of the first message that may be forgotten: a system message at the beginning is kept. */
static size_t first_of_talk(const clf_message *messages)
{
    return strcmp(messages[0].role, "system") == 0 ? 1 : 0;
}

/* The messages that are not forgotten. */
typedef struct conversation {
    clf_message *messages;
    size_t count, forgotten;
} conversation;

static void forget_oldest(conversation *talk, size_t first)
{
    enum { QUESTION_AND_ANSWER = 2 };
    talk->count -= QUESTION_AND_ANSWER;
    talk->forgotten += QUESTION_AND_ANSWER;
    memmove(talk->messages + first, talk->messages + first + QUESTION_AND_ANSWER, (talk->count - first) * sizeof *talk->messages);
}

static clf_status make_prompt(const clf_session *session, const clf_chat_params *params, size_t max_tokens, conversation *talk,
                              clf_prompt *out)
{
    const size_t positions = (size_t)session->model->info.max_positions, first = first_of_talk(talk->messages);
    const size_t room = max_tokens < positions / 4 ? max_tokens : positions / 4;
    for (;; forget_oldest(talk, first)) {
        CLF_TRY(
            clfi_chat_prompt_make(session->chat, talk->messages, talk->count, NULL, params->keeps_control, 0, &out->ids, &out->id_count));
        if (!params->forgets || out->id_count + room <= positions || talk->count < first + 3)
            return CLF_OK;
    }
}

clf_status clf_session_chat(clf_session *session, const clf_message *messages, size_t count, const clf_chat_params *params,
                            clf_generate_callback on_token, void *user, clf_request **out)
{
    clf_chat_params own;
    clf_generate_params generate;
    static const int32_t nothing = 0;
    conversation talk = {.count = count};
    clf_prompt prompt = {.ids = NULL};
    clf_request *request;
    clf_status st;
    if (!session || !messages || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "chat: session, messages and out must not be NULL");
    CLF_TRY(clf_chat_params_read(params, &own));
    CLF_TRY(check_messages(messages, count));
    CLF_TRY(clfi_generate_params_check(NULL, 0, own.generate, &generate));
    CLF_TRY(open_prompt(session));
    CLF_TRY(clfi_alloc(count, sizeof *talk.messages, "messages", &talk.messages));
    memcpy(talk.messages, messages, count * sizeof *messages);
    CLF_GOTO(make_prompt(session, &own, generate.max_tokens, &talk, &prompt));
    if (!prompt.ids)
        prompt.ids = &nothing; /* the template wrote no token */
    CLF_GOTO(clfi_request_create(session, &generate, &prompt, 0, on_token, user, &request));
    request->end_of_turn = clfi_chat_prompt_end(session->chat);
    if (own.forgotten)
        *own.forgotten = talk.forgotten;
    *out = request;
done:
    free(talk.messages);
    return st;
}

size_t clf_request_prompt_tokens(const clf_request *request)
{
    return !request ? 0 : request->source ? request->source_count : request->prompt_count;
}

void clf_request_cancel(clf_request *request)
{
    if (request)
        clfi_request_cancel(request);
}

clf_finish clf_request_finish(const clf_request *request)
{
    return request ? request->finish : CLF_FINISH_NONE;
}

void clf_request_destroy(clf_request *request)
{
    clfi_request_destroy(request);
}

static clf_status check_requests(const clf_session *session, clf_request *const *requests, size_t count)
{
    if (!session || (count && !requests))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "requests: session and requests must not be NULL");
    for (size_t i = 0; i < count; i++) {
        if (!requests[i] || requests[i]->session != session)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "requests[%zu] is %s", i, requests[i] ? "of another session" : "NULL");
        if (requests[i]->finish != CLF_FINISH_NONE)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "requests[%zu] has ended: expected one that was not run", i);
        for (size_t j = 0; j < i; j++)
            if (requests[j] == requests[i])
                CLF_FAIL(CLF_INVALID_ARGUMENT, "requests[%zu] and requests[%zu] are the same request", j, i);
    }
    return CLF_OK;
}

static clf_status run_all(clf_scheduler *scheduler, clf_request *const *requests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        requests[i]->number = i;
        CLF_TRY(clfi_scheduler_add(scheduler, requests[i]));
    }
    while (clfi_scheduler_load(scheduler) > 0)
        CLF_TRY(clfi_scheduler_step(scheduler));
    return CLF_OK;
}

clf_status clf_session_run_requests(clf_session *session, clf_request *const *requests, size_t count)
{
    clf_scheduler *scheduler;
    CLF_TRY(check_requests(session, requests, count));
    const clf_scheduler_params params = {.places = count < CLFI_BATCH_SEQUENCES ? count : 0};
    CLF_TRY(clfi_scheduler_create(session, &params, &scheduler));
    const clf_status st = run_all(scheduler, requests, count);
    clfi_scheduler_destroy(scheduler);
    for (size_t i = 0; st != CLF_OK && i < count; i++)
        if (requests[i]->params.sequence && requests[i]->finish == CLF_FINISH_NONE) {
            const clf_status emptied = clf_sequence_keep(requests[i]->params.sequence, 0);
            (void)emptied; /* cannot fail: every sequence has 0 tokens or more */
        }
    CLF_TRY(st);
    for (size_t i = 0; i < count; i++)
        if (requests[i]->status != CLF_OK)
            CLF_FAIL(requests[i]->status, "%s", requests[i]->reason);
    return CLF_OK;
}
