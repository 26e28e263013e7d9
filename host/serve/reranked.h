/* SPDX-License-Identifier: MIT */
/* Scores of a query's documents, best first, for the dialects that rerank. */
#ifndef CLFI_SERVE_RERANKED_H
#define CLFI_SERVE_RERANKED_H

#include "serve/row_inputs.h"

/* A job that scores `query` with each of the texts: strings, or objects with a string `text`. field: that has them. */
bool srv_rerank_begin(srv_call *call, const srv_model *model, const srv_row_ask *ask, const json_t *query, const json_t *texts);

/* The text of a document. */
clf_text srv_document_text(const json_t *document);

/* Indices of `count` scores in falling order, of equal ones the first first. *out: the caller frees it. */
clf_status srv_order_by_score(const float *scores, size_t count, size_t **out);

#endif
