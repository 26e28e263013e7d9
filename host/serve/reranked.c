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
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const json_t *text = json_array_get(texts, i);
        if (!is_document(text))
            return srv_refuse(&call->error, SRV_FAULT_INVALID, ask->field, "%s: entry %zu: expected a text, found %s", ask->field, i,
                              clfi_json_found(text, found));
        clf_text document = srv_document_text(text);
        if (ask->document_tokens)
            cut_document(model, ask->document_tokens, &document);
        if (!srv_rows_add_text(call, ask, i, srv_text(query), document))
            return false;
    }
    return true;
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
