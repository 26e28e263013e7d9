/* SPDX-License-Identifier: MIT */
/* Answers TEI's routes /tokenize, /decode and /info. */
#include "serve/tei_tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "clformer/classify.h"
#include "io/json.h"
#include "model/model.h"
#include "model/packing.h"
#include "serve/fields.h"
#include "serve/row_inputs.h"

enum { ANY_TASK = ~0, MOST_TOKENS = 1 << 17 }; /* MOST_TOKENS: in an answer of /tokenize, about 10 MB */

static bool choose(srv_call *call, const srv_model **out)
{
    const char *id;
    return srv_read_word(call->body, "model", &id, &call->error) &&
           srv_models_choose(&call->state->models, id, (unsigned)ANY_TASK, false, out, &call->error);
}

/* ---- /tokenize ---- */

/* A place in a text. */
typedef struct place {
    size_t character, byte;
} place;

/* Moves the place to this character, or to the text's end. Tokens come in the order of the text, so it rarely moves back. */
static void move_to(clf_text text, size_t character, place *at)
{
    if (character < at->character)
        *at = (place){0, 0};
    while (at->character < character && at->byte < text.size) {
        at->character++;
        do
            at->byte++;
        while (at->byte < text.size && ((unsigned char)text.data[at->byte] & 0xc0) == 0x80);
    }
}

static json_t *describe_token(const srv_model *model, clf_text text, const clf_encoding *e, size_t i, place *at)
{
    const char *token = clf_tokenizer_token(model->model->tokenizer, e->ids[i]);
    const clf_offsets part = e->offsets[i];
    if (e->special_mask[i] || part.end > text.size || part.start > part.end)
        return json_pack("{s:i, s:o, s:b, s:n, s:n}", "id", (int)e->ids[i], "text",
                         clfi_json_text(token ? token : "", strlen(token ? token : "")), "special", 1, "start", "stop");
    move_to(text, part.start, at);
    place end = *at;
    move_to(text, part.end, &end);
    return json_pack("{s:i, s:o, s:b, s:i, s:i}", "id", (int)e->ids[i], "text", clfi_json_text(text.data + at->byte, end.byte - at->byte),
                     "special", 0, "start", (int)part.start, "stop", (int)part.end);
}

/* Appends the tokens of a text as a list. */
static clf_status write_tokens(const srv_model *model, clf_text text, const clf_encoding *e, clf_str *out)
{
    place at = {0, 0};
    CLF_TRY(clfi_str_append_char(out, '['));
    for (size_t i = 0; i < e->length; i++) {
        if (i)
            CLF_TRY(clfi_str_append_char(out, ','));
        json_t *token = describe_token(model, text, e, i, &at);
        const clf_status st = clfi_json_write(token, JSON_COMPACT, "answer", out);
        json_decref(token);
        CLF_TRY(st);
    }
    return clfi_str_append_char(out, ']');
}

/* Appends the answer for one text. *tokens: of the texts before it; those of this one are added. */
static bool tokenize_one(srv_call *call, const srv_model *model, bool adds_special, size_t index, clf_text text, size_t *tokens)
{
    const clf_encode_options options = {.add_special_tokens = adds_special, .max_tokens = MOST_TOKENS, .offsets = CLF_OFFSETS_CHARACTERS};
    clf_encoding encoding = CLF_ENCODING_INIT;
    clf_status st = clfi_tokenizer_encode(model->model->tokenizer, text.data, text.size, NULL, 0, &options, &encoding);
    const bool is_read = st == CLF_OK;
    *tokens += encoding.length;
    const bool fits = !encoding.truncated && *tokens <= MOST_TOKENS;
    if (is_read && fits)
        st = write_tokens(model, text, &encoding, &call->reply.body);
    clfi_encoding_free(&encoding);
    if (is_read && !fits)
        return srv_refuse(&call->error, SRV_FAULT_TOO_LONG, "inputs", "inputs: entry %zu: expected at most %d tokens in all texts together",
                          index, MOST_TOKENS);
    if (st == CLF_OK)
        return true;
    srv_refuse_status(&call->error, clfi_fail_prefix(st, "inputs: entry %zu", index), "inputs");
    if (st != CLF_OUT_OF_MEMORY)
        call->error.fault = SRV_FAULT_TOKENIZER;
    return false;
}

bool srv_tei_tokenize(srv_call *call)
{
    const srv_model *model;
    bool adds_special;
    size_t tokens = 0;
    char found[CLFI_JSON_FOUND_BYTES];
    clf_str *out = &call->reply.body;
    if (!choose(call, &model) || !srv_read_bool(call->body, "add_special_tokens", true, &adds_special, &call->error))
        return false;
    const json_t *inputs = srv_field(call->body, "inputs");
    const size_t count = json_is_string(inputs) ? 1 : json_array_size(inputs);
    if (!json_is_string(inputs) && !json_is_array(inputs))
        return srv_refuse_field(call->body, "inputs", "a text or a list of texts", &call->error);
    if (count == 0 || count > SRV_MOST_INPUTS)
        return srv_refuse(&call->error, count ? SRV_FAULT_INVALID : SRV_FAULT_EMPTY, "inputs", "inputs: expected 1 to %d texts, found %zu",
                          SRV_MOST_INPUTS, count);
    for (size_t i = 0; i < count; i++) {
        const json_t *input = json_is_string(inputs) ? inputs : json_array_get(inputs, i);
        if (!json_is_string(input))
            return srv_refuse(&call->error, SRV_FAULT_INVALID, "inputs", "inputs: entry %zu: expected a text, found %s", i,
                              clfi_json_found(input, found));
        if (clfi_str_append_char(out, i ? ',' : '[') != CLF_OK)
            return srv_refuse_memory(call);
        if (!tokenize_one(call, model, adds_special, i, srv_text(input), &tokens))
            return false;
    }
    return srv_reply_body(call, clfi_str_append_char(out, ']'), SRV_JSON);
}

/* ---- /decode ---- */

static bool decode_one(srv_call *call, const srv_model *model, clf_token_decoder *decoder, const json_t *ids, const char *where,
                       json_t *list)
{
    const size_t count = json_array_size(ids);
    int32_t *tokens;
    clf_text text;
    if (clfi_alloc(count, sizeof *tokens, "token ids", &tokens) != CLF_OK)
        return srv_refuse_memory(call);
    if (!srv_read_ids(ids, model->vocabulary, "ids", where, "", tokens, &call->error)) {
        free(tokens);
        return false;
    }
    const clf_status st = clf_token_decoder_decode(decoder, tokens, count, &text);
    if (st == CLF_OK)
        json_array_append_new(list, clfi_json_text(text.data, text.size));
    free(tokens);
    return st == CLF_OK || srv_refuse_memory(call);
}

static bool decode_all(srv_call *call, const srv_model *model, clf_token_decoder *decoder, const json_t *ids, json_t *list)
{
    char found[CLFI_JSON_FOUND_BYTES], where[80];
    const bool is_one = !json_is_array(json_array_get(ids, 0));
    if (is_one)
        return decode_one(call, model, decoder, ids, "ids", list);
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const json_t *entry = json_array_get(ids, i);
        if (!json_is_array(entry))
            return srv_refuse(&call->error, SRV_FAULT_INVALID, "ids", "ids: entry %zu: expected a list of token ids, found %s", i,
                              clfi_json_found(entry, found));
        snprintf(where, sizeof where, "ids: entry %zu", i);
        if (!decode_one(call, model, decoder, entry, where, list))
            return false;
    }
    return true;
}

bool srv_tei_decode(srv_call *call)
{
    const srv_model *model;
    bool skips_special;
    clf_token_decoder *decoder;
    if (!choose(call, &model) || !srv_read_bool(call->body, "skip_special_tokens", true, &skips_special, &call->error))
        return false;
    const json_t *ids = srv_field(call->body, "ids");
    if (!json_is_array(ids))
        return srv_refuse_field(call->body, "ids", "a list of token ids, or a list of such lists", &call->error);
    if (json_array_size(ids) == 0)
        return srv_refuse(&call->error, SRV_FAULT_EMPTY, "ids", "ids: expected one token id or more, found none");
    if (clf_token_decoder_create(model->model->tokenizer, skips_special, &decoder) != CLF_OK)
        return srv_refuse_memory(call);
    json_t *list = json_array();
    const bool ok = decode_all(call, model, decoder, ids, list);
    clf_token_decoder_destroy(decoder);
    if (ok)
        return srv_reply_json(call, list);
    json_decref(list);
    return false;
}

/* ---- /info ---- */

static const char *pooling_word(const clf_model *model)
{
    switch (clf_model_get_info(model)->pooling) {
    case CLF_POOLING_CLS:
        return "cls";
    case CLF_POOLING_LAST:
        return "last_token";
    default:
        return "mean";
    }
}

static json_t *model_type(const srv_model *model)
{
    if (model->tasks & SRV_TASK_EMBED)
        return json_pack("{s:{s:s}}", "embedding", "pooling", pooling_word(model->model));
    if (!(model->tasks & SRV_TASK_PREDICT))
        return json_pack("{s:{}}", "generator");
    json_t *names = json_object(), *ids = json_object();
    for (size_t i = 0; i < clf_model_label_count(model->model); i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        json_object_set_new(names, number, json_string(clf_model_label(model->model, i)));
        json_object_set_new(ids, clf_model_label(model->model, i), json_integer((json_int_t)i));
    }
    return json_pack("{s:{s:o, s:o}}", model->tasks & SRV_TASK_RERANK ? "reranker" : "classifier", "id2label", names, "label2id", ids);
}

bool srv_tei_info(srv_call *call)
{
    const srv_model *model = &call->state->models.items[0];
    const srv_options *options = call->state->options;
    const json_int_t tokens = (json_int_t)clfi_batch_tokens(model->model->context);
    return srv_reply_json(
        call, json_pack("{s:s, s:n, s:s, s:s, s:o, s:I, s:I, s:I, s:n, s:i, s:b, s:i, s:s, s:n, s:n, s:I, s:I}", "model_id", model->id,
                        "model_sha", "model_dtype", clf_model_get_info(model->model)->weights == CLF_STORAGE_F16 ? "float16" : "float32",
                        "served_model_name", model->id, "model_type", model_type(model), "max_concurrent_requests",
                        (json_int_t)options->max_queue, "max_input_length", (json_int_t)model->max_tokens, "max_batch_tokens", tokens,
                        "max_batch_requests", "max_client_batch_size", SRV_MOST_INPUTS, "auto_truncate", 1, "tokenization_workers", 4,
                        "version", clf_version(), "sha", "docker_label", "max_body_bytes", (json_int_t)options->max_body, "timeout_seconds",
                        (json_int_t)options->timeout));
}
