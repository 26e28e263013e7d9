/* SPDX-License-Identifier: MIT */
/* Answers TEI's routes /embed, /rerank, /predict and /similarity. */
#include "serve/tei.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "clformer/classify.h"
#include "io/json.h"
#include "serve/fields.h"
#include "serve/numbers.h"
#include "serve/reranked.h"

/* Reads whether long texts are truncated, and at which end. */
static bool read_truncation(const json_t *fields, srv_row_ask *ask, srv_error *error)
{
    const char *side;
    if (!srv_read_bool(fields, "truncate", ask->truncates, &ask->truncates, error) ||
        !srv_read_word(fields, "truncation_direction", &side, error))
        return false;
    if (side && strcasecmp(side, "left") != 0 && strcasecmp(side, "right") != 0)
        return srv_refuse_field(fields, "truncation_direction", "\"left\" or \"right\"", error);
    if (side)
        ask->cuts_left = strcasecmp(side, "left") == 0;
    return true;
}

/* Reads the fields that TEI's routes have in common: the model, and the truncation of long texts. */
static bool read_common(srv_call *call, srv_row_ask *ask, const srv_model **out)
{
    const char *id;
    ask->truncates = true;
    return srv_read_word(call->body, "model", &id, &call->error) &&
           srv_models_choose(&call->state->models, id, ask->kind.task, false, out, &call->error) &&
           read_truncation(call->body, ask, &call->error);
}

static bool refuse_left(srv_call *call)
{
    return srv_refuse(&call->error, SRV_FAULT_INVALID, "truncation_direction",
                      "truncation_direction: \"left\" is not supported for pairs of texts: expected \"right\"");
}

static bool read_prompt(srv_call *call, const json_t *fields, const srv_model *model, srv_row_ask *ask)
{
    const char *name;
    if (!srv_read_word(fields, "prompt_name", &name, &call->error))
        return false;
    ask->kind.prompt_name = srv_rows_prompt(model, name);
    if (name && !ask->kind.prompt_name)
        return srv_refuse(&call->error, SRV_FAULT_INVALID, "prompt_name", "prompt_name: the model has no prompt \"%.80s\"", name);
    return true;
}

/* ---- /embed ---- */

static bool answer_embed(srv_call *call)
{
    return srv_rows_reply(call, srv_rows_write_list);
}

bool srv_tei_embed(srv_call *call)
{
    static const srv_unbuilt unbuilt[] = {{"encoding_format", SRV_ONLY_FLOAT}};
    const srv_model *model;
    int64_t dimensions;
    srv_row_ask ask = {.kind = {.task = SRV_TASK_EMBED}, .field = "inputs", .takes_ids = true};
    if (!read_common(call, &ask, &model) || !read_prompt(call, call->body, model, &ask) ||
        !srv_check_unbuilt(call->body, unbuilt, COUNT(unbuilt), &call->error) ||
        !srv_read_bool(call->body, "normalize", true, &call->wire.normalises, &call->error) ||
        !srv_read_int(call->body, "dimensions", 1, (int64_t)model->width, (int64_t)model->width, &dimensions, &call->error))
        return false;
    ask.kind.is_raw = !call->wire.normalises;
    call->wire.dimensions = (size_t)dimensions;
    call->answer = answer_embed;
    return srv_rows_take(call, model, &ask, srv_field(call->body, "inputs"));
}

/* ---- /rerank ---- */

static bool answer_rerank(srv_call *call)
{
    const srv_rows *rows = &call->job->rows;
    size_t *order;
    json_t *list = json_array();
    if (srv_order_by_score(rows->rows, rows->count, &order) != CLF_OK) {
        json_decref(list);
        return srv_refuse_memory(call);
    }
    for (size_t i = 0; i < rows->count; i++) {
        const double logit = (double)rows->rows[order[i]];
        json_t *entry = json_pack("{s:I, s:f}", "index", (json_int_t)order[i], "score", call->wire.raw_scores ? logit : srv_sigmoid(logit));
        const clf_text text = srv_document_text(json_array_get(call->wire.texts, order[i]));
        if (entry && call->wire.returns_texts)
            json_object_set_new(entry, "text", json_stringn(text.data, text.size));
        json_array_append_new(list, entry);
    }
    free(order);
    return srv_reply_json(call, list);
}

bool srv_tei_rerank(srv_call *call)
{
    const srv_model *model;
    srv_row_ask ask = {.kind = {.task = SRV_TASK_RERANK}, .field = "texts"};
    if (!read_common(call, &ask, &model) || !srv_read_bool(call->body, "raw_scores", false, &call->wire.raw_scores, &call->error) ||
        !srv_read_bool(call->body, "return_text", false, &call->wire.returns_texts, &call->error))
        return false;
    if (ask.cuts_left)
        return refuse_left(call);
    call->answer = answer_rerank;
    return srv_rerank_begin(call, model, &ask, srv_field(call->body, "query"), srv_field(call->body, "texts"));
}

/* ---- /predict ---- */

/* Scores from the logits of one text, in place: softmax, sigmoid or as they are. */
static void score(const srv_call *call, float *row, size_t count)
{
    const clf_problem problem = clf_model_problem(call->job->model->model);
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, (double)row[i]);
    for (size_t i = 0; i < count; i++)
        sum += exp((double)row[i] - most);
    for (size_t i = 0; i < count && !call->wire.raw_scores; i++)
        row[i] = problem == CLF_PROBLEM_SINGLE_LABEL  ? (float)(exp((double)row[i] - most) / sum)
                 : problem == CLF_PROBLEM_MULTI_LABEL ? (float)srv_sigmoid((double)row[i])
                                                      : row[i];
}

static json_t *labels_of(const srv_call *call, float *row, size_t count)
{
    size_t *order;
    json_t *list = json_array();
    score(call, row, count);
    if (srv_order_by_score(row, count, &order) != CLF_OK) {
        json_decref(list);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            list, json_pack("{s:f, s:s}", "score", (double)row[order[i]], "label", clf_model_label(call->job->model->model, order[i])));
    free(order);
    return list;
}

static bool answer_predict(srv_call *call)
{
    const srv_rows *rows = &call->job->rows;
    if (call->wire.is_flat)
        return srv_reply_json(call, labels_of(call, rows->rows, rows->width));
    json_t *list = json_array();
    for (size_t i = 0; i < rows->count; i++)
        json_array_append_new(list, labels_of(call, rows->rows + i * rows->width, rows->width));
    return srv_reply_json(call, list);
}

/* Adds an input: a text, or a list of one or two texts. */
static bool add_input(srv_call *call, const srv_row_ask *ask, size_t index, const json_t *input)
{
    char found[CLFI_JSON_FOUND_BYTES];
    const json_t *first = json_is_array(input) ? json_array_get(input, 0) : input, *second = json_array_get(input, 1);
    if (!json_is_string(first) || json_array_size(input) > 2 || (second && !json_is_string(second)))
        return srv_refuse(&call->error, SRV_FAULT_INVALID, ask->field,
                          "%s: entry %zu: expected a text, or a list of one text or two, found %s", ask->field, index,
                          clfi_json_found(input, found));
    if (second && ask->cuts_left)
        return refuse_left(call);
    return srv_rows_add_text(call, ask, index, srv_text(first), second ? srv_text(second) : (clf_text){NULL, 0}, NULL);
}

bool srv_tei_predict(srv_call *call)
{
    const srv_model *model;
    srv_row_ask ask = {.kind = {.task = SRV_TASK_PREDICT}, .field = "inputs"};
    if (!read_common(call, &ask, &model) || !srv_read_bool(call->body, "raw_scores", false, &call->wire.raw_scores, &call->error))
        return false;
    const json_t *inputs = srv_field(call->body, "inputs");
    if (!json_is_string(inputs) && !json_is_array(inputs))
        return srv_refuse_field(call->body, "inputs", "a text, a pair of texts, or a list of lists of one text or two", &call->error);
    call->wire.is_flat = json_is_string(inputs) || json_is_string(json_array_get(inputs, 0));
    call->answer = answer_predict;
    const size_t count = call->wire.is_flat ? 1 : json_array_size(inputs);
    if (!srv_rows_begin(call, model, &ask, count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!add_input(call, &ask, i, call->wire.is_flat ? inputs : json_array_get(inputs, i)))
            return false;
    return true;
}

/* ---- /similarity ---- */

static bool answer_similarity(srv_call *call)
{
    const srv_rows *rows = &call->job->rows;
    json_t *list = json_array();
    for (size_t i = 0; i < rows->count; i++)
        srv_normalise(rows->rows + i * rows->width, rows->width);
    for (size_t i = 1; i < rows->count; i++) {
        double sum = 0;
        for (size_t k = 0; k < rows->width; k++)
            sum += (double)rows->rows[k] * (double)rows->rows[i * rows->width + k];
        json_array_append_new(list, json_real(sum));
    }
    return srv_reply_json(call, list);
}

bool srv_tei_similarity(srv_call *call)
{
    const srv_model *model;
    srv_row_ask ask = {.kind = {.task = SRV_TASK_EMBED}, .field = "inputs"};
    char found[CLFI_JSON_FOUND_BYTES];
    const json_t *parameters = srv_field(call->body, "parameters"); /* TEI's own clients put prompt_name and the truncation here */
    const json_t *fields = srv_field(parameters, "prompt_name") ? parameters : call->body;
    if (parameters && !json_is_object(parameters))
        return srv_refuse_field(call->body, "parameters", "an object", &call->error);
    if (!read_common(call, &ask, &model) || !read_truncation(parameters, &ask, &call->error) || !read_prompt(call, fields, model, &ask))
        return false;
    const json_t *inputs = srv_field(call->body, "inputs");
    const json_t *source = json_object_get(inputs, "source_sentence"), *sentences = json_object_get(inputs, "sentences");
    if (!json_is_string(source) || !json_is_array(sentences))
        return srv_refuse(&call->error, SRV_FAULT_INVALID, "inputs",
                          "inputs: expected {\"source_sentence\": text, \"sentences\": list of texts}, found %s",
                          clfi_json_found(inputs, found));
    if (json_array_size(sentences) == 0)
        return srv_refuse(&call->error, SRV_FAULT_EMPTY, "inputs", "inputs: sentences: expected one text or more, found none");
    call->answer = answer_similarity;
    if (!srv_rows_begin(call, model, &ask, 1 + json_array_size(sentences)) ||
        !srv_rows_add_text(call, &ask, 0, srv_text(source), (clf_text){NULL, 0}, NULL))
        return false;
    for (size_t i = 0; i < json_array_size(sentences); i++) {
        const json_t *text = json_array_get(sentences, i);
        if (!json_is_string(text))
            return srv_refuse(&call->error, SRV_FAULT_INVALID, "inputs", "inputs: sentences: entry %zu: expected a text, found %s", i,
                              clfi_json_found(text, found));
        if (!srv_rows_add_text(call, &ask, i + 1, srv_text(text), (clf_text){NULL, 0}, NULL))
            return false;
    }
    return true;
}

bool srv_tei_root(srv_call *call)
{
    const srv_model *first = &call->state->models.items[0];
    if (first->tasks & SRV_TASK_EMBED)
        return json_is_object(srv_field(call->body, "inputs")) ? srv_tei_similarity(call) : srv_tei_embed(call);
    if (first->tasks & SRV_TASK_PREDICT)
        return (first->tasks & SRV_TASK_RERANK) && srv_field(call->body, "query") ? srv_tei_rerank(call) : srv_tei_predict(call);
    return srv_refuse(&call->error, SRV_FAULT_INVALID, "model",
                      "POST / needs a model for embedding or classification, the first model is for %s (POST /v1/completions)",
                      srv_task_word(first->tasks));
}
