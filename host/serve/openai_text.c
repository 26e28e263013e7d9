/* SPDX-License-Identifier: MIT */
/* Sends texts of language models to OpenAI's clients, whole or as a stream. */
#include "serve/openai_text.h"

#include <string.h>

#include "io/json.h"
#include "serve/fields.h"
#include "serve/text_asks.h"

enum { COMPLETION_TOKENS = 16 }; /* OpenAI's default of max_tokens */

/* ---- Answers ---- */

static json_t *usage_of(const srv_job *job)
{
    const size_t prompt = srv_texts_prompt_tokens(job), text = srv_texts_tokens(job);
    return json_pack("{s:I, s:I, s:I}", "prompt_tokens", (json_int_t)prompt, "completion_tokens", (json_int_t)text, "total_tokens",
                     (json_int_t)(prompt + text));
}

static json_t *choice_of(const srv_call *call, size_t index)
{
    const srv_text_part *part = &call->job->texts.parts[index];
    json_t *text = clfi_json_text(clfi_str_text(&part->text), part->text.length);
    const char *finish = srv_finish_word(part->finish);
    if (!call->wire.is_chat)
        return json_pack("{s:I, s:o, s:n, s:s}", "index", (json_int_t)index, "text", text, "logprobs", "finish_reason", finish);
    return json_pack("{s:I, s:{s:s, s:o, s:n}, s:n, s:s}", "index", (json_int_t)index, "message", "role", "assistant", "content", text,
                     "refusal", "logprobs", "finish_reason", finish);
}

static bool answer(srv_call *call)
{
    json_t *choices = json_array();
    for (size_t i = 0; i < call->job->texts.count; i++)
        json_array_append_new(choices, choice_of(call, i));
    return srv_reply_json(call,
                          json_pack("{s:s, s:s, s:I, s:s, s:o, s:o}", "id", call->wire.id, "object",
                                    call->wire.is_chat ? "chat.completion" : "text_completion", "created", (json_int_t)call->wire.created,
                                    "model", call->job->model->id, "choices", choices, "usage", usage_of(call->job)));
}

/* ---- Streams ---- */

/* Appends an event; takes over the references to choices and usage. usage NULL: null if the client asked for usage, else absent. */
static clf_status write_event(const srv_call *call, json_t *choices, json_t *usage, clf_str *out)
{
    json_t *event = json_pack("{s:s, s:s, s:I, s:s, s:o}", "id", call->wire.id, "object",
                              call->wire.is_chat ? "chat.completion.chunk" : "text_completion", "created", (json_int_t)call->wire.created,
                              "model", call->job->model->id, "choices", choices);
    if (usage || call->wire.has_usage)
        json_object_set_new(event, "usage", usage ? usage : json_null());
    clf_status st = clfi_str_append_text(out, "data: ");
    if (st == CLF_OK)
        st = clfi_json_write(event, JSON_COMPACT, "answer", out);
    json_decref(event);
    return st == CLF_OK ? clfi_str_append_text(out, "\n\n") : st;
}

/* Appends an event with a piece of the text. text NULL: no piece; finish NULL: the text goes on. */
static clf_status write_piece(const srv_call *call, const clf_str *text, const char *finish, clf_str *out)
{
    json_t *piece = text ? clfi_json_text(clfi_str_text(text), text->length) : NULL, *choice;
    if (call->wire.is_chat) {
        json_t *delta = json_object();
        if (!call->wire.has_begun)
            json_object_set_new(delta, "role", json_string("assistant"));
        if (piece || !call->wire.has_begun)
            json_object_set_new(delta, "content", piece ? piece : json_string(""));
        choice = json_pack("{s:i, s:o, s:n, s:s?}", "index", 0, "delta", delta, "logprobs", "finish_reason", finish);
    } else {
        choice =
            json_pack("{s:i, s:o, s:n, s:s?}", "index", 0, "text", piece ? piece : json_string(""), "logprobs", "finish_reason", finish);
    }
    return write_event(call, json_pack("[o]", choice), NULL, out);
}

/* A srv_call's `stream`. */
static clf_status stream(srv_call *call, clf_str *out, bool *ended)
{
    srv_job *job = call->job;
    srv_text_part *part = &job->texts.parts[0];
    if (call->wire.is_chat && !call->wire.has_begun)
        CLF_TRY(write_piece(call, NULL, NULL, out));
    call->wire.has_begun = true;
    if (part->text.length) {
        CLF_TRY(write_piece(call, &part->text, NULL, out));
        clfi_str_clear(&part->text);
    }
    *ended = job->state == SRV_JOB_DONE;
    if (!*ended)
        return CLF_OK;
    if (job->error.fault != SRV_FAULT_NONE)
        return srv_stream_error(call, &job->error, out);
    CLF_TRY(write_piece(call, NULL, srv_finish_word(part->finish), out));
    if (call->wire.has_usage)
        CLF_TRY(write_event(call, json_array(), usage_of(job), out));
    return clfi_str_append_text(out, "data: [DONE]\n\n");
}

/* ---- Requests ---- */

/* Reads the parameters of both routes. tokens: limit of a text without max_tokens. */
static bool read_params(srv_call *call, int64_t tokens, clf_generate_params *out)
{
    static const srv_unbuilt unbuilt[] = {
        {"n", SRV_ONLY_ONE},
        {"best_of", SRV_ONLY_ONE},
        {"logprobs", SRV_ONLY_FALSE},
        {"top_logprobs", SRV_ONLY_ZERO},
        {"logit_bias", SRV_ONLY_EMPTY},
        {"tools", SRV_ONLY_EMPTY},
        {"tool_choice", SRV_ONLY_NO_TOOLS},
        {"functions", SRV_ONLY_EMPTY},
        {"function_call", SRV_ONLY_NO_TOOLS},
        {"response_format", SRV_ONLY_TEXT_FORMAT},
        {"presence_penalty", SRV_ONLY_ZERO},
        {"frequency_penalty", SRV_ONLY_ZERO},
        {"suffix", SRV_ONLY_EMPTY},
        {"echo", SRV_ONLY_FALSE},
        {"format", SRV_ONLY_EMPTY},
        {"audio", SRV_ONLY_EMPTY},
        {"prediction", SRV_ONLY_EMPTY},
        {"web_search_options", SRV_ONLY_EMPTY},
        {"guided_json", SRV_ONLY_EMPTY},
        {"guided_regex", SRV_ONLY_EMPTY},
        {"guided_choice", SRV_ONLY_EMPTY},
        {"guided_grammar", SRV_ONLY_EMPTY},
        {"structured_outputs", SRV_ONLY_EMPTY},
        {"grammar", SRV_ONLY_EMPTY},
        {"json_schema", SRV_ONLY_EMPTY},
        {"prompt_logprobs", SRV_ONLY_ZERO},
        {"stop_token_ids", SRV_ONLY_EMPTY},
        {"bad_words", SRV_ONLY_EMPTY},
        {"ignore_eos", SRV_ONLY_FALSE},
        {"min_tokens", SRV_ONLY_ZERO},
        {"use_beam_search", SRV_ONLY_FALSE},
        {"typical_p", SRV_ONLY_ONE},
        {"mirostat", SRV_ONLY_ZERO},
        {"chat_template", SRV_ONLY_EMPTY},
        {"chat_template_kwargs", SRV_ONLY_EMPTY},
        {"add_generation_prompt", SRV_ONLY_TRUE},
        {"continue_final_message", SRV_ONLY_FALSE},
        {"repeat_penalty", SRV_ONLY_ONE},
        {"n_predict", SRV_ONLY_ABSENT},
        {"n_probs", SRV_ONLY_ZERO},
        {"dry_multiplier", SRV_ONLY_ZERO},
        {"xtc_probability", SRV_ONLY_ZERO},
        {"dynatemp_range", SRV_ONLY_ZERO},
        {"mirostat_mode", SRV_ONLY_ZERO},
        {"allowed_token_ids", SRV_ONLY_EMPTY},
        {"truncate_prompt_tokens", SRV_ONLY_ABSENT},
        {"no_repeat_ngram_size", SRV_ONLY_ZERO},
        {"include_stop_str_in_output", SRV_ONLY_FALSE},
        {"skip_special_tokens", SRV_ONLY_TRUE},
    };
    const json_t *body = call->body, *options = srv_field(body, "stream_options"), *modalities = srv_field(body, "modalities");
    double temperature, top_p, min_p, penalty;
    int64_t most, seed, top_k;
    *out = (clf_generate_params)CLF_GENERATE_PARAMS_INIT;
    if (!srv_check_unbuilt(body, unbuilt, COUNT(unbuilt), &call->error) ||
        !srv_read_int(body, "max_tokens", 1, INT64_MAX, tokens, &most, &call->error) ||
        !srv_read_int(body, "max_completion_tokens", 1, INT64_MAX, most, &most, &call->error) ||
        !srv_read_number(body, "temperature", 0, 2, 1, &temperature, &call->error) ||
        !srv_read_number(body, "top_p", 0, 1, 1, &top_p, &call->error) || !srv_read_number(body, "min_p", 0, 1, 0, &min_p, &call->error) ||
        !srv_read_number(body, "repetition_penalty", 1e-6, 1e6, 1, &penalty, &call->error) ||
        !srv_read_int(body, "top_k", -1, INT64_MAX, 0, &top_k, &call->error) ||
        !srv_read_int(body, "seed", INT64_MIN, INT64_MAX, (int64_t)srv_random_seed(), &seed, &call->error))
        return false;
    const json_t *way = json_array_get(modalities, 0);
    if (modalities && (json_array_size(modalities) != 1 || !srv_is_word(way, "text")))
        return srv_refuse_field(body, "modalities", "[\"text\"]", &call->error);
    if (options && !json_is_object(options))
        return srv_refuse_field(body, "stream_options", "an object", &call->error);
    if (!srv_read_bool(options, "include_usage", false, &call->wire.has_usage, &call->error))
        return false;
    out->max_tokens = (size_t)most;
    out->temperature = (float)temperature;
    out->top_p = (float)top_p;
    out->min_p = (float)min_p;
    if (srv_field(body, "repetition_penalty"))
        out->repeat_penalty = (float)penalty;
    out->top_k = top_k > 0 ? (size_t)top_k : 0;
    out->seed = (uint64_t)seed;
    return true;
}

static bool begin(srv_call *call, unsigned task, int64_t tokens, clf_generate_params *params, const srv_model **out_model,
                  bool *out_streams)
{
    const char *id;
    if (!srv_read_word(call->body, "model", &id, &call->error) ||
        !srv_models_choose(&call->state->models, id, task, false, out_model, &call->error) ||
        !srv_read_bool(call->body, "stream", false, out_streams, &call->error) || !read_params(call, tokens, params))
        return false;
    call->answer = answer;
    call->stream = stream;
    return true;
}

/* Sets the job's stop texts, and whether it is a stream. */
static bool finish(srv_call *call, bool streams)
{
    call->job->is_stream = streams;
    return srv_texts_set_stops(call, srv_field(call->job->body, "stop"));
}

bool srv_openai_chat(srv_call *call)
{
    const srv_model *model;
    clf_generate_params params;
    bool streams;
    call->wire.is_chat = true;
    if (!begin(call, SRV_TASK_CHAT, INT64_MAX, &params, &model, &streams))
        return false;
    const json_t *messages = srv_field(call->body, "messages");
    return srv_texts_begin(call, model, &params, 1) && finish(call, streams) && srv_texts_add_messages(call, messages, "messages");
}

/* Adds a prompt of any shape: a text, a list of texts, a list of token ids, or a list of such lists. is_one: one text or list of ids. */
static bool add_prompts(srv_call *call, const json_t *prompt, size_t count, bool is_one)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *one = is_one ? prompt : json_array_get(prompt, i);
        char found[CLFI_JSON_FOUND_BYTES];
        if (!json_is_string(one) && !json_is_array(one))
            return srv_refuse(&call->error, SRV_FAULT_INVALID, "prompt", "prompt: entry %zu: expected a text or token ids, found %s", i,
                              clfi_json_found(one, found));
        if (json_is_string(one) ? !srv_texts_add_prompt(call, i, srv_text(one), "prompt") : !srv_texts_add_ids(call, i, one, "prompt"))
            return false;
    }
    return true;
}

bool srv_openai_completions(srv_call *call)
{
    const srv_model *model;
    clf_generate_params params;
    bool streams;
    if (!begin(call, SRV_TASK_COMPLETE, COMPLETION_TOKENS, &params, &model, &streams))
        return false;
    const json_t *prompt = srv_field(call->body, "prompt"), *head = json_array_get(prompt, 0);
    const bool is_one = json_is_string(prompt) || json_is_number(head) || json_is_boolean(head);
    const size_t count = is_one ? 1 : json_array_size(prompt);
    if (count == 0)
        return srv_refuse_field(call->body, "prompt", "a text, a list of texts or a list of token ids", &call->error);
    if (count > (streams ? 1 : SRV_MOST_PROMPTS))
        return srv_refuse(&call->error, SRV_FAULT_INVALID, "prompt", "prompt: expected %d at most%s, found %zu",
                          streams ? 1 : SRV_MOST_PROMPTS, streams ? " with \"stream\": true" : "", count);
    return srv_texts_begin(call, model, &params, count) && finish(call, streams) && add_prompts(call, prompt, count, is_one);
}
