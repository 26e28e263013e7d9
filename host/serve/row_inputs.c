/* SPDX-License-Identifier: MIT */
/* Reads the texts and token ids of requests as items of jobs. */
#include "serve/row_inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "clformer/classify.h"
#include "io/json.h"
#include "model/model.h"
#include "serve/fields.h"
#include "serve/numbers.h"

static bool refuse_status(srv_call *call, const srv_row_ask *ask, size_t index, clf_status status)
{
    srv_refuse_status(&call->error, clfi_fail_prefix(status, "%s: entry %zu", ask->field, index), ask->field);
    if (status == CLF_UNSUPPORTED || status == CLF_INVALID_ARGUMENT)
        call->error.fault = SRV_FAULT_TOKENIZER;
    return false;
}

bool srv_rows_begin(srv_call *call, const srv_model *model, const srv_row_ask *ask, size_t count)
{
    if (count == 0)
        return srv_refuse(&call->error, SRV_FAULT_EMPTY, ask->field, "%s: expected one text or more, found none", ask->field);
    if (count > SRV_MOST_INPUTS)
        return srv_refuse(&call->error, SRV_FAULT_INVALID, ask->field, "%s: expected at most %d entries, found %zu", ask->field,
                          SRV_MOST_INPUTS, count);
    if (!srv_begin_job(call, model))
        return false;
    srv_job *job = call->job;
    job->rows.kind = ask->kind;
    job->rows.width = ask->kind.task == SRV_TASK_EMBED ? model->width : clf_model_label_count(model->model);
    if (srv_job_set_items(job, count) != CLF_OK || clfi_alloc(count * job->rows.width, sizeof(float), "rows", &job->rows.rows) != CLF_OK)
        return srv_refuse_memory(call);
    return true;
}

const char *srv_rows_prompt(const srv_model *model, const char *name)
{
    if (!name)
        return model->model->settings.is_cross_encoder ? NULL : clf_model_default_prompt_name(model->model);
    for (size_t i = 0; i < clf_model_prompt_count(model->model); i++)
        if (strcmp(clf_model_prompt_name(model->model, i), name) == 0)
            return clf_model_prompt_name(model->model, i);
    return NULL;
}

/* Cuts ids and types to `most` tokens at the beginning of the text; special tokens around it stay. Returns the number of tokens left. */
static size_t cut_left(const clf_encoding *encoding, size_t most, int32_t *ids, int32_t *types)
{
    const size_t length = encoding->length;
    size_t before = 0, behind = 0;
    while (before < length && encoding->special_mask[before])
        before++;
    while (behind < length - before && encoding->special_mask[length - 1 - behind])
        behind++;
    if (length <= most || before + behind >= most)
        return length < most ? length : most;
    const size_t gone = length - most;
    memmove(ids + before, ids + before + gone, (most - before) * sizeof *ids);
    memmove(types + before, types + before + gone, (most - before) * sizeof *types);
    return most;
}

static bool too_long(srv_call *call, const srv_row_ask *ask, size_t index)
{
    return srv_refuse(&call->error, SRV_FAULT_TOO_LONG, ask->field,
                      "%s: entry %zu: expected at most %zu tokens, the model's limit (shorten it%s)", ask->field, index,
                      call->job->model->max_tokens, call->dialect == SRV_COHERE ? "" : ", or send \"truncate\": true");
}

/* Copies the encoding into the item's ids and types. */
static bool take_encoding(srv_call *call, const srv_row_ask *ask, size_t index, const clf_encoding *encoding)
{
    const srv_model *model = call->job->model;
    srv_item *item = &call->job->rows.items[index];
    const size_t most = model->max_tokens;
    if (!ask->truncates && (encoding->truncated || encoding->length > most))
        return too_long(call, ask, index);
    if (clfi_alloc(2 * encoding->length, sizeof *item->ids, "token ids", &item->ids) != CLF_OK)
        return srv_refuse_memory(call);
    int32_t *types = item->ids + encoding->length;
    memcpy(item->ids, encoding->ids, encoding->length * sizeof *item->ids);
    if (model->has_types)
        memcpy(types, encoding->type_ids, encoding->length * sizeof *types);
    item->count = ask->cuts_left ? cut_left(encoding, most, item->ids, types) : encoding->length;
    memmove(item->ids + item->count, types, item->count * sizeof *types);
    call->job->rows.tokens += item->count;
    return true;
}

/* Puts the prompt before the text, if there is one. *prompted then has the joined text; the caller frees it. */
static clf_status put_prompt(const srv_call *call, const srv_row_ask *ask, clf_str *prompted, clf_text *text)
{
    const clf_model *model = call->job->model->model;
    const char *name = ask->kind.prompt_name;
    if (ask->kind.task == SRV_TASK_RERANK && model->settings.is_cross_encoder)
        name = clf_model_default_prompt_name(model);
    const char *prompt = name ? clf_model_prompt(model, name) : NULL;
    if (!prompt || !*prompt)
        return CLF_OK;
    CLF_TRY(clfi_str_append_text(prompted, prompt));
    CLF_TRY(clfi_str_append(prompted, text->data, text->size));
    *text = (clf_text){clfi_str_text(prompted), prompted->length};
    return CLF_OK;
}

bool srv_rows_add_text(srv_call *call, const srv_row_ask *ask, size_t index, clf_text first, clf_text second, clf_encoding *pairs)
{
    const srv_model *model = call->job->model;
    clf_encoding own = CLF_ENCODING_INIT, *encoding = pairs ? pairs : &own;
    clf_str prompted = CLF_STR_INIT;
    const clf_encode_options options = {.add_special_tokens = true,
                                        .max_tokens = ask->cuts_left ? 0 : model->max_tokens,
                                        .enough_tokens = ask->truncates ? 0 : model->max_tokens + 1,
                                        .repeats_first = encoding->workspace};
    if (!srv_check_wanted(call))
        return false;
    clf_status st = options.repeats_first ? CLF_OK : put_prompt(call, ask, &prompted, &first);
    if (st == CLF_OK)
        st = clfi_tokenizer_encode(model->model->tokenizer, first.data, first.size, second.data, second.size, &options, encoding);
    const bool ok = st == CLF_OK ? take_encoding(call, ask, index, encoding) : refuse_status(call, ask, index, st);
    clfi_encoding_free(&own);
    clfi_str_free(&prompted);
    return ok;
}

/* ---- Token ids ---- */

#define SEND_TEXTS " (send texts; LangChain: check_embedding_ctx_length=False)"

static bool add_ids(srv_call *call, const srv_row_ask *ask, size_t index, const json_t *ids)
{
    const srv_model *model = call->job->model;
    srv_item *item = &call->job->rows.items[index];
    const size_t given = json_array_size(ids), count = given < model->max_tokens ? given : model->max_tokens;
    char where[80];
    if (!srv_check_wanted(call))
        return false;
    if (given == 0)
        return srv_refuse(&call->error, SRV_FAULT_EMPTY, ask->field, "%s: entry %zu: expected one token id or more, found none", ask->field,
                          index);
    if (call->state->options->refuses_ids)
        return srv_refuse(&call->error, SRV_FAULT_INVALID, ask->field, "%s: entry %zu: this server takes no token ids" SEND_TEXTS,
                          ask->field, index);
    if (clfi_alloc(2 * given, sizeof *item->ids, "token ids", &item->ids) != CLF_OK)
        return srv_refuse_memory(call);
    snprintf(where, sizeof where, "%s: entry %zu", ask->field, index);
    if (!srv_read_ids(ids, model->vocabulary, ask->field, where, SEND_TEXTS, item->ids, &call->error))
        return false;
    if (given > count && !ask->truncates)
        return too_long(call, ask, index);
    if (ask->cuts_left)
        memmove(item->ids, item->ids + given - count, count * sizeof *item->ids);
    memset(item->ids + count, 0, count * sizeof *item->ids); /* types */
    item->count = count;
    call->job->rows.tokens += count;
    return true;
}

/* ---- Inputs of all shapes ---- */

static bool refuse_input(srv_call *call, const srv_row_ask *ask, size_t index, const json_t *found)
{
    char text[CLFI_JSON_FOUND_BYTES];
    return srv_refuse(&call->error, SRV_FAULT_INVALID, ask->field, "%s: entry %zu: expected a text%s, found %s", ask->field, index,
                      ask->takes_ids ? " or a list of token ids" : "", clfi_json_found(found, text));
}

static bool take_entry(srv_call *call, const srv_row_ask *ask, size_t index, const json_t *entry)
{
    if (json_is_string(entry))
        return srv_rows_add_text(call, ask, index, srv_text(entry), (clf_text){NULL, 0}, NULL);
    if (json_is_array(entry) && ask->takes_ids)
        return add_ids(call, ask, index, entry);
    return refuse_input(call, ask, index, entry);
}

bool srv_rows_take(srv_call *call, const srv_model *model, const srv_row_ask *ask, const json_t *inputs)
{
    if (!json_is_string(inputs) && !json_is_array(inputs)) {
        char text[CLFI_JSON_FOUND_BYTES];
        return srv_refuse(&call->error, SRV_FAULT_INVALID, ask->field, "%s: expected a text or a list of texts%s, found %s", ask->field,
                          ask->takes_ids ? " or token ids" : "", clfi_json_found(inputs, text));
    }
    const json_t *head = json_array_get(inputs, 0);
    const bool is_one = json_is_string(inputs) || (ask->takes_ids && head && (json_is_number(head) || json_is_boolean(head)));
    if (!srv_rows_begin(call, model, ask, is_one ? 1 : json_array_size(inputs)))
        return false;
    if (is_one)
        return take_entry(call, ask, 0, inputs);
    for (size_t i = 0; i < json_array_size(inputs); i++)
        if (!take_entry(call, ask, i, json_array_get(inputs, i)))
            return false;
    return true;
}

void srv_rows_embedding(const srv_call *call, size_t index, float *out)
{
    const srv_rows *rows = &call->job->rows;
    memcpy(out, rows->rows + index * rows->width, call->wire.dimensions * sizeof *out);
    if (call->wire.normalises)
        srv_normalise(out, call->wire.dimensions);
}

clf_status srv_rows_write_list(const srv_call *call, float *row, clf_str *out)
{
    CLF_TRY(clfi_str_append_char(out, '['));
    for (size_t i = 0; i < call->job->rows.count; i++) {
        srv_rows_embedding(call, i, row);
        if (i)
            CLF_TRY(clfi_str_append_char(out, ','));
        CLF_TRY(srv_write_numbers(row, call->wire.dimensions, out));
    }
    return clfi_str_append_char(out, ']');
}

bool srv_rows_reply(srv_call *call, clf_status (*write)(const srv_call *call, float *row, clf_str *out))
{
    float *row;
    clf_status st = clfi_alloc(call->job->rows.width, sizeof *row, "row", &row);
    if (st == CLF_OK) {
        st = write(call, row, &call->reply.body);
        free(row);
    }
    return srv_reply_body(call, st, SRV_JSON);
}
