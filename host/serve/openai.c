/* SPDX-License-Identifier: MIT */
/* Answers /v1/models and /v1/embeddings. */
#include "serve/openai.h"

#include <string.h>

#include "io/json.h"
#include "serve/fields.h"
#include "serve/numbers.h"
#include "serve/row_inputs.h"

static json_t *describe(const srv_model *model)
{
    return json_pack("{s:s, s:s, s:I, s:s}", "id", model->id, "object", "model", "created", (json_int_t)model->loaded, "owned_by",
                     "clformer");
}

bool srv_openai_models(srv_call *call)
{
    const srv_models *models = &call->state->models;
    json_t *list = json_array();
    for (size_t i = 0; i < models->count; i++)
        json_array_append_new(list, describe(&models->items[i]));
    return srv_reply_json(call, json_pack("{s:s, s:o}", "object", "list", "data", list));
}

bool srv_openai_model(srv_call *call)
{
    const srv_model *model = srv_models_find(&call->state->models, call->rest);
    if (!model)
        return srv_refuse(&call->error, SRV_FAULT_NO_MODEL, "model", "model: \"%.80s\" not found (GET /v1/models lists the models)",
                          call->rest);
    return srv_reply_json(call, describe(model));
}

/* ---- Embeddings ---- */

static clf_status write_embedding(const srv_call *call, size_t index, float *row, clf_str *out)
{
    srv_rows_embedding(call, index, row);
    CLF_TRY(clfi_str_appendf(out, "%s{\"object\":\"embedding\",\"index\":%zu,\"embedding\":", index ? "," : "", index));
    CLF_TRY(call->wire.is_base64 ? srv_write_base64(row, call->wire.dimensions, out) : srv_write_numbers(row, call->wire.dimensions, out));
    return clfi_str_append_char(out, '}');
}

static clf_status write_answer(const srv_call *call, float *row, clf_str *out)
{
    const srv_rows *rows = &call->job->rows;
    json_t *id = json_string(call->job->model->id);
    CLF_TRY(clfi_str_append_text(out, "{\"object\":\"list\",\"data\":["));
    for (size_t i = 0; i < rows->count; i++)
        CLF_TRY(write_embedding(call, i, row, out));
    CLF_TRY(clfi_str_append_text(out, "],\"model\":"));
    const clf_status st = clfi_json_write(id, JSON_ENCODE_ANY, "answer", out);
    json_decref(id);
    CLF_TRY(st);
    return clfi_str_appendf(out, ",\"usage\":{\"prompt_tokens\":%zu,\"total_tokens\":%zu}}", rows->tokens, rows->tokens);
}

static bool answer_embeddings(srv_call *call)
{
    return srv_rows_reply(call, write_answer);
}

static bool read_format(srv_call *call)
{
    const char *format;
    if (!srv_read_word(call->body, "encoding_format", &format, &call->error))
        return false;
    if (format && strcmp(format, "float") != 0 && strcmp(format, "base64") != 0)
        return srv_refuse_field(call->body, "encoding_format", "\"float\" or \"base64\"", &call->error);
    call->wire.is_base64 = format && strcmp(format, "base64") == 0;
    return true;
}

bool srv_openai_embeddings(srv_call *call)
{
    static const srv_unbuilt unbuilt[] = {
        {"truncation_direction", SRV_ONLY_RIGHT}, {"truncate_prompt_tokens", SRV_ONLY_ABSENT}, {"prompt_name", SRV_ONLY_ABSENT}};
    const srv_model *model;
    const char *id;
    int64_t dimensions;
    bool normalises;
    srv_row_ask ask = {.kind = {.task = SRV_TASK_EMBED}, .field = "input", .takes_ids = true};
    if (!srv_read_word(call->body, "model", &id, &call->error) ||
        !srv_models_choose(&call->state->models, id, SRV_TASK_EMBED, false, &model, &call->error) || !read_format(call) ||
        !srv_check_unbuilt(call->body, unbuilt, COUNT(unbuilt), &call->error) ||
        !srv_read_bool(call->body, "normalize", true, &normalises, &call->error) ||
        !srv_read_bool(call->body, "truncate", false, &ask.truncates, &call->error) ||
        !srv_read_int(call->body, "dimensions", 1, (int64_t)model->width, (int64_t)model->width, &dimensions, &call->error))
        return false;
    call->wire.dimensions = (size_t)dimensions;
    if (srv_field(call->body, "normalize"))
        call->wire.normalises = normalises;
    else /* all features are as the model's settings say */
        call->wire.normalises = call->wire.dimensions < model->width;
    ask.kind.is_raw = !normalises;
    call->answer = answer_embeddings;
    ask.kind.prompt_name = srv_rows_prompt(model, NULL);
    return srv_rows_take(call, model, &ask, srv_field(call->body, "input"));
}
