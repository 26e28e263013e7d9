/* SPDX-License-Identifier: MIT */
/* Serves Cohere's /v1/rerank and /v2/rerank: reads requests and writes the ranked documents as JSON. */
#include "serve/cohere.h"

#include <stdio.h>
#include <stdlib.h>

#include "serve/fields.h"
#include "serve/numbers.h"
#include "serve/reranked.h"

static json_t *result_of(const srv_call *call, size_t index)
{
    json_t *result =
        json_pack("{s:I, s:f}", "index", (json_int_t)index, "relevance_score", srv_sigmoid((double)call->job->rows.rows[index]));
    if (result && call->wire.returns_texts) {
        const clf_text text = srv_document_text(json_array_get(call->wire.texts, index));
        json_object_set_new(result, "document", json_pack("{s:o}", "text", json_stringn(text.data, text.size)));
    }
    return result;
}

static bool answer(srv_call *call)
{
    const srv_rows *rows = &call->job->rows;
    size_t *order;
    json_t *results = json_array();
    const size_t count = call->wire.top < rows->count ? call->wire.top : rows->count;
    if (srv_order_by_score(rows->rows, rows->count, &order) != CLF_OK) {
        json_decref(results);
        return srv_refuse_memory(call);
    }
    for (size_t i = 0; i < count; i++)
        json_array_append_new(results, result_of(call, order[i]));
    free(order);
    return srv_reply_json(call, json_pack("{s:s, s:s, s:o, s:{s:{s:s}, s:{s:i}, s:{s:I}}, s:{s:I}}", "id", call->wire.id, "model",
                                          call->job->model->id, "results", results, "meta", "api_version", "version", "2", "billed_units",
                                          "search_units", 1, "tokens", "input_tokens", (json_int_t)rows->tokens, "usage", "total_tokens",
                                          (json_int_t)rows->tokens));
}

bool srv_cohere_rerank(srv_call *call)
{
    static const srv_unbuilt unbuilt[] = {{"rank_fields", SRV_ONLY_EMPTY}, {"truncate_prompt_tokens", SRV_ONLY_ABSENT}};
    const srv_model *model;
    const char *id;
    int64_t top, chunks, tokens;
    srv_row_ask ask = {.kind = {.task = SRV_TASK_RERANK}, .field = "documents", .truncates = true};
    const json_t *body = call->body;
    if (!srv_read_word(body, "model", &id, &call->error) ||
        !srv_models_choose(&call->state->models, id, SRV_TASK_RERANK, false, &model, &call->error) ||
        !srv_check_unbuilt(body, unbuilt, COUNT(unbuilt), &call->error) ||
        !srv_read_int(body, "top_n", 1, INT64_MAX, INT64_MAX, &top, &call->error) ||
        !srv_read_int(body, "max_chunks_per_doc", 1, INT64_MAX, 1, &chunks, &call->error) ||
        !srv_read_int(body, "max_tokens_per_doc", 1, INT64_MAX, 0, &tokens, &call->error) ||
        !srv_read_bool(body, "return_documents", false, &call->wire.returns_texts, &call->error))
        return false;
    ask.document_tokens = (size_t)tokens;
    call->wire.top = (size_t)top;
    call->answer = answer;
    return srv_rerank_begin(call, model, &ask, srv_field(body, "query"), srv_field(body, "documents"));
}
