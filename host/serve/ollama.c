/* SPDX-License-Identifier: MIT */
/* Answers Ollama's routes: models, embeddings and texts. */
#include "serve/ollama.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "io/json.h"
#include "serve/fields.h"
#include "serve/row_inputs.h"
#include "serve/text_asks.h"

enum { TIME_BYTES = 32 };

static void write_time(time_t seconds, char text[TIME_BYTES])
{
    struct tm parts;
    gmtime_r(&seconds, &parts);
    strftime(text, TIME_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

/* ---- Models ---- */

static json_t *details_of(const srv_model *model)
{
    const clf_model_info *info = clf_model_get_info(model->model);
    char parameters[32];
    snprintf(parameters, sizeof parameters, "%.1fM", (double)info->parameters / 1e6);
    return json_pack("{s:s, s:s, s:s, s:[s], s:s, s:s}", "parent_model", "", "format", "clformer", "family", info->architecture, "families",
                     info->architecture, "parameter_size", parameters, "quantization_level",
                     info->weights == CLF_STORAGE_F16 ? "F16" : "stored");
}

/* Digest of the model's name and sizes, so that its files are not read again. */
static void digest_of(const srv_model *model, char out[2 * CLFI_HASH_TEXT_BYTES])
{
    const clf_model_info *info = clf_model_get_info(model->model);
    char text[512];
    snprintf(text, sizeof text, "%s %lld %llu", model->id, (long long)info->parameters, (unsigned long long)info->file_bytes);
    clfi_hash(text, strlen(text), out);
    clfi_hash(out, strlen(out), out + strlen(out));
}

static json_t *tag_of(const srv_model *model)
{
    char modified[TIME_BYTES], digest[2 * CLFI_HASH_TEXT_BYTES];
    write_time((time_t)model->loaded, modified);
    digest_of(model, digest);
    return json_pack("{s:s, s:s, s:s, s:I, s:s, s:o}", "name", model->id, "model", model->id, "modified_at", modified, "size",
                     (json_int_t)clf_model_get_info(model->model)->file_bytes, "digest", digest, "details", details_of(model));
}

bool srv_ollama_tags(srv_call *call)
{
    json_t *list = json_array();
    for (size_t i = 0; i < call->state->models.count; i++)
        json_array_append_new(list, tag_of(&call->state->models.items[i]));
    return srv_reply_json(call, json_pack("{s:o}", "models", list));
}

bool srv_ollama_version(srv_call *call)
{
    return srv_reply_json(call, json_pack("{s:s}", "version", clf_version()));
}

/* The model of a request that can do the task. */
static bool choose(srv_call *call, unsigned task, const srv_model **out)
{
    const char *id, *name;
    if (!srv_read_word(call->body, "model", &id, &call->error) || !srv_read_word(call->body, "name", &name, &call->error))
        return false;
    id = id ? id : name;
    if (!id)
        return srv_refuse_field(call->body, "model", "the name of a model", &call->error);
    return srv_models_choose(&call->state->models, id, task, true, out, &call->error);
}

bool srv_ollama_show(srv_call *call)
{
    const srv_model *model;
    char key[160], modified[TIME_BYTES];
    if (!choose(call, ~0u, &model))
        return false;
    const clf_model_info *info = clf_model_get_info(model->model);
    json_t *facts =
        json_pack("{s:s, s:I}", "general.architecture", info->architecture, "general.parameter_count", (json_int_t)info->parameters);
    const struct {
        const char *name;
        int64_t value;
    } rows[] = {{"context_length", info->max_positions},
                {"embedding_length", info->width},
                {"block_count", info->layers},
                {"attention.head_count", info->heads}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        snprintf(key, sizeof key, "%.80s.%s", info->architecture, rows[i].name);
        json_object_set_new(facts, key, json_integer(rows[i].value));
    }
    json_t *abilities = json_array();
    if (model->tasks & SRV_TASK_EMBED)
        json_array_append_new(abilities, json_string("embedding"));
    if (model->tasks & SRV_TASK_COMPLETE)
        json_array_append_new(abilities, json_string("completion"));
    write_time((time_t)model->loaded, modified);
    return srv_reply_json(call,
                          json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "modelfile", "", "parameters", "", "template", "", "modified_at",
                                    modified, "details", details_of(model), "model_info", facts, "capabilities", abilities));
}

/* ---- Embeddings ---- */

static uint64_t since(uint64_t then)
{
    const uint64_t now = clfi_now_ns();
    return then && now > then ? now - then : 0;
}

static clf_status write_embeddings(const srv_call *call, float *row, clf_str *out)
{
    const srv_job *job = call->job;
    json_t *id = json_string(job->model->id);
    CLF_TRY(clfi_str_append_text(out, "{\"model\":"));
    const clf_status st = clfi_json_write(id, JSON_ENCODE_ANY, "answer", out);
    json_decref(id);
    CLF_TRY(st);
    CLF_TRY(clfi_str_append_text(out, ",\"embeddings\":"));
    CLF_TRY(srv_rows_write_list(call, row, out));
    return clfi_str_appendf(out, ",\"total_duration\":%llu,\"load_duration\":0,\"prompt_eval_count\":%zu}",
                            (unsigned long long)since(job->came_ns), job->rows.tokens);
}

static bool answer_embed(srv_call *call)
{
    return srv_rows_reply(call, write_embeddings);
}

bool srv_ollama_embed(srv_call *call)
{
    const srv_model *model;
    int64_t dimensions;
    srv_row_ask ask = {.kind = {.task = SRV_TASK_EMBED}, .field = "input"};
    if (!choose(call, SRV_TASK_EMBED, &model) || !srv_read_bool(call->body, "truncate", true, &ask.truncates, &call->error) ||
        !srv_read_int(call->body, "dimensions", 1, (int64_t)model->width, (int64_t)model->width, &dimensions, &call->error))
        return false;
    call->wire.dimensions = (size_t)dimensions;
    call->wire.normalises = true;
    call->answer = answer_embed;
    ask.kind.prompt_name = srv_rows_prompt(model, NULL);
    return srv_rows_take(call, model, &ask, srv_field(call->body, "input"));
}

/* ---- Texts ---- */

/* A line with a piece of text; `done`: it is the last line, with the counts. The caller releases it; NULL: no memory. */
static json_t *line_of(const srv_call *call, const clf_str *text, bool done)
{
    const srv_job *job = call->job;
    const srv_text_part *part = &job->texts.parts[0];
    char created[TIME_BYTES];
    write_time((time_t)call->wire.created, created);
    json_t *line = json_pack("{s:s, s:s, s:b}", "model", job->model->id, "created_at", created, "done", done);
    json_t *piece = clfi_json_text(clfi_str_text(text), text->length);
    json_object_set_new(line, call->wire.is_chat ? "message" : "response",
                        call->wire.is_chat ? json_pack("{s:s, s:o}", "role", "assistant", "content", piece) : piece);
    if (!done)
        return line;
    const uint64_t now = clfi_now_ns(), began = job->began_ns ? job->began_ns : now, first = job->first_ns ? job->first_ns : now;
    json_object_set_new(line, "done_reason", json_string(srv_finish_word(part->finish)));
    json_object_set_new(line, "total_duration", json_integer((json_int_t)since(job->came_ns)));
    json_object_set_new(line, "load_duration", json_integer(0));
    json_object_set_new(line, "prompt_eval_count", json_integer((json_int_t)part->id_count));
    json_object_set_new(line, "prompt_eval_duration", json_integer((json_int_t)(first > began ? first - began : 0)));
    json_object_set_new(line, "eval_count", json_integer((json_int_t)part->tokens));
    json_object_set_new(line, "eval_duration", json_integer((json_int_t)(now > first ? now - first : 0)));
    return line;
}

static bool answer_text(srv_call *call)
{
    return srv_reply_json(call, line_of(call, &call->job->texts.parts[0].text, true));
}

static clf_status write_line(const srv_call *call, const clf_str *text, bool done, clf_str *out)
{
    json_t *line = line_of(call, text, done);
    const clf_status st = clfi_json_write(line, JSON_COMPACT, "answer", out);
    json_decref(line);
    return st == CLF_OK ? clfi_str_append_char(out, '\n') : st;
}

/* A srv_call's `stream`. */
static clf_status stream(srv_call *call, clf_str *out, bool *ended)
{
    srv_job *job = call->job;
    clf_str *text = &job->texts.parts[0].text;
    *ended = job->state == SRV_JOB_DONE;
    if (*ended && job->error.fault != SRV_FAULT_NONE)
        return srv_stream_error(call, &job->error, out);
    if (text->length)
        CLF_TRY(write_line(call, text, false, out));
    clfi_str_clear(text);
    return *ended ? write_line(call, text, true, out) : CLF_OK;
}

static bool read_options(srv_call *call, clf_generate_params *out)
{
    static const srv_unbuilt body_unbuilt[] = {{"format", SRV_ONLY_EMPTY},  {"tools", SRV_ONLY_EMPTY},    {"suffix", SRV_ONLY_EMPTY},
                                               {"images", SRV_ONLY_EMPTY},  {"think", SRV_ONLY_FALSE},    {"template", SRV_ONLY_EMPTY},
                                               {"context", SRV_ONLY_EMPTY}, {"logprobs", SRV_ONLY_FALSE}, {"top_logprobs", SRV_ONLY_ZERO}};
    static const srv_unbuilt unbuilt[] = {{"mirostat", SRV_ONLY_ZERO},
                                          {"presence_penalty", SRV_ONLY_ZERO},
                                          {"frequency_penalty", SRV_ONLY_ZERO},
                                          {"typical_p", SRV_ONLY_ONE},
                                          {"tfs_z", SRV_ONLY_ONE}};
    const json_t *options = srv_field(call->body, "options");
    double temperature, top_p, min_p, penalty;
    int64_t top_k, seed, most, window;
    *out = (clf_generate_params)CLF_GENERATE_PARAMS_INIT;
    if (!srv_check_unbuilt(call->body, body_unbuilt, COUNT(body_unbuilt), &call->error))
        return false;
    if (options && !json_is_object(options))
        return srv_refuse_field(call->body, "options", "an object", &call->error);
    if (!srv_check_unbuilt(options, unbuilt, COUNT(unbuilt), &call->error) ||
        !srv_read_number(options, "temperature", 0, 1000, 0.8, &temperature, &call->error) ||
        !srv_read_number(options, "top_p", 0, 1, 0.9, &top_p, &call->error) ||
        !srv_read_number(options, "min_p", 0, 1, 0, &min_p, &call->error) ||
        !srv_read_number(options, "repeat_penalty", 1e-6, 1e6, 1, &penalty, &call->error) ||
        !srv_read_int(options, "repeat_last_n", -1, INT64_MAX, -1, &window, &call->error) ||
        !srv_read_int(options, "top_k", 0, INT64_MAX, 40, &top_k, &call->error) ||
        !srv_read_int(options, "seed", INT64_MIN, INT64_MAX, (int64_t)srv_random_seed(), &seed, &call->error))
        return false;
    if (!srv_read_int(options, "num_predict", -2, INT64_MAX, -1, &most, &call->error) || most == 0)
        return srv_refuse_field(options, "num_predict", "a whole number, at least 1, or -1 for no limit", &call->error);
    out->temperature = (float)temperature;
    out->top_p = (float)top_p;
    out->min_p = (float)min_p;
    if (window > 0 && penalty != 1)
        return srv_refuse_field(options, "repeat_last_n", "-1 (the whole text) beside repeat_penalty", &call->error);
    if (srv_field(options, "repeat_penalty") || window == 0)
        out->repeat_penalty = window == 0 ? 1.0f : (float)penalty;
    out->top_k = (size_t)top_k;
    out->seed = (uint64_t)seed;
    out->max_tokens = most > 0 ? (size_t)most : SIZE_MAX;
    return true;
}

/* Sets whether the job is a stream, and its stop texts. */
static bool finish(srv_call *call)
{
    srv_job *job = call->job;
    return srv_read_bool(job->body, "stream", true, &job->is_stream, &call->error) &&
           srv_texts_set_stops(call, srv_field(srv_field(job->body, "options"), "stop"));
}

static bool begin(srv_call *call, unsigned task)
{
    const srv_model *model;
    clf_generate_params params;
    call->answer = answer_text;
    call->stream = stream;
    return choose(call, task, &model) && read_options(call, &params) && srv_texts_begin(call, model, &params, 1) && finish(call);
}

/* Answers a request without a prompt or messages, with which clients load a model before they need it. */
static bool answer_load(srv_call *call, unsigned task)
{
    const srv_model *model;
    char created[TIME_BYTES];
    if (!choose(call, task, &model))
        return false;
    write_time((time_t)call->wire.created, created);
    json_t *line = json_pack("{s:s, s:s, s:b, s:s}", "model", model->id, "created_at", created, "done", true, "done_reason", "load");
    json_object_set_new(line, call->wire.is_chat ? "message" : "response",
                        call->wire.is_chat ? json_pack("{s:s, s:s}", "role", "assistant", "content", "") : json_string(""));
    return srv_reply_json(call, line);
}

bool srv_ollama_chat(srv_call *call)
{
    const json_t *messages = srv_field(call->body, "messages");
    call->wire.is_chat = true;
    if (!messages || (json_is_array(messages) && json_array_size(messages) == 0))
        return answer_load(call, SRV_TASK_CHAT);
    return begin(call, SRV_TASK_CHAT) && srv_texts_add_messages(call, srv_field(call->job->body, "messages"), "messages");
}

/* The prompt as a conversation of one question, after the system message if there is one. The caller releases it; NULL: no memory. */
static json_t *talk_of(const json_t *body)
{
    const json_t *prompt = srv_field(body, "prompt"), *system = srv_field(body, "system");
    json_t *list = json_array();
    if (system)
        json_array_append_new(list, json_pack("{s:s, s:O}", "role", "system", "content", system));
    json_array_append_new(list, json_pack("{s:s, s:O}", "role", "user", "content", prompt));
    return list;
}

bool srv_ollama_generate(srv_call *call)
{
    bool is_raw;
    const char *system;
    const srv_model *model;
    if (!srv_read_bool(call->body, "raw", false, &is_raw, &call->error) || !srv_read_word(call->body, "system", &system, &call->error))
        return false;
    const json_t *prompt = srv_field(call->body, "prompt");
    if (!prompt || srv_is_word(prompt, ""))
        return answer_load(call, SRV_TASK_COMPLETE);
    if (!json_is_string(prompt))
        return srv_refuse_field(call->body, "prompt", "a text", &call->error);
    if (!choose(call, SRV_TASK_COMPLETE, &model))
        return false;
    const bool is_chat = !is_raw && model->tasks & SRV_TASK_CHAT;
    if (!begin(call, SRV_TASK_COMPLETE))
        return false;
    if (!is_chat && system && *system)
        return srv_refuse(&call->error, SRV_FAULT_INVALID, "system", "system: needs a chat template, which %s (leave the field out)",
                          is_raw ? "\"raw\": true turns off" : "this model lacks");
    if (!is_chat)
        return srv_texts_add_prompt(call, 0, srv_text(srv_field(call->job->body, "prompt")), "prompt");
    json_t *messages = talk_of(call->job->body);
    const bool ok = srv_texts_add_messages(call, messages, "prompt");
    json_decref(messages);
    return ok;
}
