/* SPDX-License-Identifier: MIT */
/* Makes jobs for language models from requests. */
#include "serve/text_asks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "io/json.h"
#include "model/chat_prompt.h"
#include "model/generation.h"
#include "model/model.h"
#include "serve/fields.h"

uint64_t srv_random_seed(void)
{
    uint64_t seed = clfi_now_ns();
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = clfi_now_ns();
    return seed >> 1;
}

const char *srv_finish_word(clf_finish finish)
{
    return finish == CLF_FINISH_LENGTH ? "length" : "stop";
}

size_t srv_texts_prompt_tokens(const srv_job *job)
{
    size_t sum = 0;
    for (size_t i = 0; i < job->texts.count; i++)
        sum += job->texts.parts[i].id_count;
    return sum;
}

size_t srv_texts_tokens(const srv_job *job)
{
    size_t sum = 0;
    for (size_t i = 0; i < job->texts.count; i++)
        sum += job->texts.parts[i].tokens;
    return sum;
}

bool srv_texts_begin(srv_call *call, const srv_model *model, const clf_generate_params *params, size_t count)
{
    if (!srv_begin_job(call, model))
        return false;
    call->job->texts.params = *params;
    call->job->texts.end_of_turn = -1;
    return srv_job_set_parts(call->job, count) == CLF_OK || srv_refuse_memory(call);
}

enum { WHERE_BYTES = 80 };

/* Names the prompt of part `index` in messages: "prompt", or "prompt: entry 2" if there are several. */
static const char *where_of(const srv_call *call, const char *field, size_t index, char text[WHERE_BYTES])
{
    if (call->job->texts.count == 1)
        return field;
    snprintf(text, WHERE_BYTES, "%s: entry %zu", field, index);
    return text;
}

static bool has_source(const srv_call *call)
{
    return call->job->model->model->network->config.decoder.has_source;
}

/* Most tokens of a prompt. It must fit the model's context, and leave room for one token unless it is a source. */
static size_t most_tokens(const srv_call *call)
{
    const clf_network_config *config = &call->job->model->model->network->config;
    const size_t room = call->job->model->room, positions = (size_t)config->target.max_positions;
    return has_source(call) ? (size_t)config->source.max_positions : room && room < positions ? room - 1 : positions - 1;
}

/* Copies the prompt into the part. is_text: the ids are those of a text that was read until it had too many of them. */
static bool set_ids(srv_call *call, size_t index, const int32_t *ids, size_t count, bool is_text, const char *field)
{
    srv_text_part *part = &call->job->texts.parts[index];
    const size_t most = most_tokens(call);
    char where[WHERE_BYTES];
    if (count == 0)
        return srv_refuse(&call->error, SRV_FAULT_EMPTY, field, "%s: expected a token or more, found none",
                          where_of(call, field, index, where));
    if (count > most)
        return srv_refuse(&call->error, SRV_FAULT_TOO_LONG, field, "%s: expected at most %zu tokens%s, found %s%zu",
                          where_of(call, field, index, where), most, has_source(call) ? "" : " (one less than the context)",
                          is_text ? "at least " : "", count);
    if (clfi_alloc(count, sizeof *part->ids, "prompt", &part->ids) != CLF_OK)
        return srv_refuse_memory(call);
    memcpy(part->ids, ids, count * sizeof *ids);
    part->id_count = count;
    return true;
}

bool srv_texts_add_prompt(srv_call *call, size_t index, clf_text text, const char *field)
{
    clf_encoding encoding = CLF_ENCODING_INIT;
    char where[WHERE_BYTES];
    if (!srv_check_wanted(call))
        return false;
    const clf_status st =
        clfi_generation_encode(call->job->model->model, &call->job->texts.params, &text, most_tokens(call) + 1, &encoding);
    bool ok = st == CLF_OK && set_ids(call, index, encoding.ids, encoding.length, true, field);
    if (st != CLF_OK)
        ok = srv_refuse_status(&call->error, clfi_fail_prefix(st, "%s", where_of(call, field, index, where)), field);
    clfi_encoding_free(&encoding);
    return ok;
}

bool srv_texts_add_ids(srv_call *call, size_t index, const json_t *ids, const char *field)
{
    const size_t count = json_array_size(ids);
    int32_t *tokens;
    char where[WHERE_BYTES];
    if (!srv_check_wanted(call))
        return false;
    if (clfi_alloc(count, sizeof *tokens, "token ids", &tokens) != CLF_OK)
        return srv_refuse_memory(call);
    const bool ok = srv_read_ids(ids, call->job->model->vocabulary, field, where_of(call, field, index, where), "", tokens, &call->error) &&
                    set_ids(call, index, tokens, count, false, field);
    free(tokens);
    return ok;
}

/* ---- Conversations ---- */

/* A conversation as it is read. */
typedef struct talk {
    clf_message *messages;
    size_t count;
    clf_str *joined; /* [count]: contents that came in several parts */
    json_t *more;    /* an object for each message that was read: further texts for the template */
} talk;

static bool refuse_message(srv_call *call, const char *field, size_t index, const char *what, const json_t *found)
{
    char text[CLFI_JSON_FOUND_BYTES];
    return srv_refuse(&call->error, SRV_FAULT_INVALID, field, "%s[%zu]: %s, found %s", field, index, what, clfi_json_found(found, text));
}

static bool join_parts(srv_call *call, talk *t, size_t index, const json_t *content, const char *field)
{
    for (size_t i = 0; i < json_array_size(content); i++) {
        const json_t *part = json_array_get(content, i), *type = json_object_get(part, "type"), *text = json_object_get(part, "text");
        if (!srv_is_word(type, "text") || !json_is_string(text))
            return refuse_message(call, field, index, "content: expected parts {\"type\": \"text\", \"text\": ...} alone",
                                  json_is_string(type) ? type : part);
        if (clfi_str_append(&t->joined[index], json_string_value(text), json_string_length(text)) != CLF_OK)
            return srv_refuse_memory(call);
    }
    t->messages[index].content = (clf_text){clfi_str_text(&t->joined[index]), t->joined[index].length};
    return true;
}

static bool put_text(srv_call *call, json_t *object, const char *key, const json_t *text)
{
    return json_object_set_new(object, key, clfi_json_copy(text)) == 0 || srv_refuse_memory(call);
}

/* Reads a message's reasoning, which clients send by three names. Templates see it as transformers gives it to them: the first name that is
 * there as "reasoning_content", and as "thinking" where the message has none. */
static bool read_reasoning(srv_call *call, json_t *more, size_t index, const json_t *message, const char *field)
{
    static const char *const names[] = {"reasoning_content", "thinking", "reasoning"};
    const json_t *first = NULL;
    for (size_t i = 0; i < COUNT(names); i++) {
        const json_t *text = srv_field(message, names[i]);
        if (text && !json_is_string(text))
            return refuse_message(call, field, index, "reasoning_content, thinking, reasoning: expected a text", text);
        first = first ? first : text;
        if (text && !put_text(call, more, names[i], text))
            return false;
    }
    if (first && !json_object_get(more, "thinking") && !put_text(call, more, "thinking", first))
        return false;
    return !first || put_text(call, more, "reasoning_content", first);
}

/* Reads what a template may show of a message beside its role and content: the reasoning, and the name of who speaks. */
static bool read_more(srv_call *call, talk *t, size_t index, const json_t *message, const char *field)
{
    const json_t *name = srv_field(message, "name");
    json_t *more = json_object();
    if (json_array_append_new(t->more, more) != 0)
        return srv_refuse_memory(call);
    if (name && !json_is_string(name))
        return refuse_message(call, field, index, "name: expected a text", name);
    return (!name || put_text(call, more, "name", name)) && read_reasoning(call, more, index, message, field);
}

static bool read_message(srv_call *call, talk *t, size_t index, const json_t *message, const char *field)
{
    static const char *const roles[][2] = {{"system", "system"}, {"developer", "system"}, {"user", "user"}, {"assistant", "assistant"}};
    static const char *const unbuilt[] = {"tool_calls", "function_call", "images"};
    const json_t *role = srv_field(message, "role"), *content = srv_field(message, "content");
    if (!json_is_object(message))
        return refuse_message(call, field, index, "expected an object with role and content", message);
    for (size_t i = 0; i < COUNT(roles); i++)
        if (srv_is_word(role, roles[i][0]))
            t->messages[index].role = roles[i][1];
    if (!t->messages[index].role)
        return refuse_message(call, field, index, "role: expected system, developer, user or assistant", role);
    for (size_t i = 0; i < COUNT(unbuilt); i++)
        if (json_array_size(srv_field(message, unbuilt[i])) + json_object_size(srv_field(message, unbuilt[i])) > 0)
            return refuse_message(call, field, index, "tool_calls, function_call, images: not supported: expected none",
                                  srv_field(message, unbuilt[i]));
    if (!read_more(call, t, index, message, field))
        return false;
    if (json_is_array(content) && json_array_size(content) > 0)
        return join_parts(call, t, index, content, field);
    if (!json_is_string(content))
        return refuse_message(call, field, index, "content: expected a text or a list of parts that are texts", content);
    t->messages[index].content = srv_text(content);
    return true;
}

static bool make_prompt(srv_call *call, const talk *t, const char *field)
{
    srv_model *model = (srv_model *)(uintptr_t)call->job->model; /* changes only the lock and the chat prompt that it guards */
    const int32_t *ids;
    size_t count;
    pthread_mutex_lock(&model->chat_lock);
    const clf_status st = clfi_chat_prompt_make(model->chat, t->messages, t->count, t->more, false, most_tokens(call) + 1, &ids, &count);
    const bool ok = st == CLF_OK ? set_ids(call, 0, ids, count, true, field)
                                 : srv_refuse_status(&call->error, clfi_fail_prefix(st, "%s", field), field);
    call->job->texts.end_of_turn = clfi_chat_prompt_end(model->chat);
    pthread_mutex_unlock(&model->chat_lock);
    return ok;
}

bool srv_texts_add_messages(srv_call *call, const json_t *messages, const char *field)
{
    talk t = {.count = json_array_size(messages)};
    char found[CLFI_JSON_FOUND_BYTES];
    bool ok = true;
    if (t.count == 0)
        return srv_refuse(&call->error, SRV_FAULT_INVALID, field, "%s: expected a list of one message or more, found %s", field,
                          clfi_json_found(messages, found));
    if (clfi_alloc(t.count, sizeof *t.messages, "messages", &t.messages) != CLF_OK)
        return srv_refuse_memory(call);
    if (clfi_alloc(t.count, sizeof *t.joined, "messages", &t.joined) != CLF_OK) {
        free(t.messages);
        return srv_refuse_memory(call);
    }
    t.more = json_array();
    for (size_t i = 0; i < t.count && ok; i++)
        ok = read_message(call, &t, i, json_array_get(messages, i), field);
    ok = ok && make_prompt(call, &t, field);
    for (size_t i = 0; i < t.count; i++)
        clfi_str_free(&t.joined[i]);
    json_decref(t.more);
    free(t.joined);
    free(t.messages);
    return ok;
}

/* ---- Stop texts ---- */

bool srv_texts_set_stops(srv_call *call, const json_t *stops)
{
    srv_texts *texts = &call->job->texts;
    const size_t count = json_is_string(stops) ? 1 : json_array_size(stops);
    char found[CLFI_JSON_FOUND_BYTES];
    if (!stops)
        return true;
    if (!json_is_string(stops) && (!json_is_array(stops) || count > SRV_MOST_STOPS))
        return srv_refuse(&call->error, SRV_FAULT_INVALID, "stop", "stop: expected a text or a list of up to %d texts, found %s",
                          SRV_MOST_STOPS, clfi_json_found(stops, found));
    if (clfi_alloc(count, sizeof *texts->stops, "stop texts", &texts->stops) != CLF_OK)
        return srv_refuse_memory(call);
    for (size_t i = 0; i < count; i++) {
        const json_t *stop = json_is_string(stops) ? stops : json_array_get(stops, i);
        if (!json_is_string(stop) || json_string_length(stop) == 0)
            return srv_refuse(&call->error, SRV_FAULT_INVALID, "stop", "stop: entry %zu: expected a text that is not empty, found %s", i,
                              clfi_json_found(stop, found));
        texts->stops[i] = srv_text(stop);
    }
    texts->params.stops = texts->stops;
    texts->params.stop_count = count;
    return true;
}
