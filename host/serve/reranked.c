/* SPDX-License-Identifier: MIT */
/* Reads a query with documents from requests, and orders the documents by score. */
#include "serve/reranked.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "io/json.h"
#include "model/model.h"
#include "serve/fields.h"

clf_text srv_document_text(const json_t *document)
{
    return srv_text(json_is_object(document) ? json_object_get(document, "text") : document);
}

static bool is_document(const json_t *document)
{
    return json_is_string(document) || json_is_string(json_object_get(document, "text"));
}

/* Cuts the text after its first `most` tokens. A text that the tokenizer refuses stays whole: the pair's encoding reports the reason. */
static void cut_document(const srv_model *model, size_t most, clf_text *text)
{
    const clf_encode_options options = {.max_tokens = most, .offsets = CLF_OFFSETS_BYTES};
    clf_encoding encoding = CLF_ENCODING_INIT;
    if (clfi_tokenizer_encode(model->model->tokenizer, text->data, text->size, NULL, 0, &options, &encoding) == CLF_OK &&
        encoding.truncated && encoding.length > 0 && encoding.offsets[encoding.length - 1].end < text->size)
        text->size = encoding.offsets[encoding.length - 1].end;
    clfi_encoding_free(&encoding);
}

static bool add_document(srv_call *call, const srv_model *model, const srv_row_ask *ask, size_t index, const json_t *query,
                         const json_t *document, clf_encoding *pairs)
{
    char found[CLFI_JSON_FOUND_BYTES];
    if (!is_document(document))
        return srv_refuse(&call->error, SRV_FAULT_INVALID, ask->field, "%s: entry %zu: expected a text, found %s", ask->field, index,
                          clfi_json_found(document, found));
    clf_text text = srv_document_text(document);
    if (ask->document_tokens)
        cut_document(model, ask->document_tokens, &text);
    return srv_rows_add_text(call, ask, index, srv_text(query), text, pairs);
}

bool srv_rerank_begin(srv_call *call, const srv_model *model, const srv_row_ask *ask, const json_t *query, const json_t *texts)
{
    char found[CLFI_JSON_FOUND_BYTES];
    if (!json_is_string(query))
        return srv_refuse(&call->error, SRV_FAULT_INVALID, "query", "query: expected a text, found %s", clfi_json_found(query, found));
    if (!json_is_array(texts))
        return srv_refuse(&call->error, SRV_FAULT_INVALID, ask->field, "%s: expected a list of texts, found %s", ask->field,
                          clfi_json_found(texts, found));
    if (!srv_rows_begin(call, model, ask, json_array_size(texts)))
        return false;
    call->wire.texts = texts;
    clf_encoding pairs = CLF_ENCODING_INIT;
    bool ok = true;
    for (size_t i = 0; i < json_array_size(texts) && ok; i++)
        ok = add_document(call, model, ask, i, query, json_array_get(texts, i), &pairs);
    clfi_encoding_free(&pairs);
    return ok;
}

static int compare(const void *a, const void *b, void *user)
{
    const float *scores = user;
    const size_t i = *(const size_t *)a, k = *(const size_t *)b;
    return scores[i] != scores[k] ? (scores[i] < scores[k] ? 1 : -1) : (i > k) - (i < k);
}

clf_status srv_order_by_score(const float *scores, size_t count, size_t **out)
{
    CLF_TRY(clfi_alloc(count, sizeof **out, "order", out));
    for (size_t i = 0; i < count; i++)
        (*out)[i] = i;
    qsort_r(*out, count, sizeof **out, compare, (void *)(uintptr_t)scores);
    return CLF_OK;
}
