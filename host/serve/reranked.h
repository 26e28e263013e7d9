/* SPDX-License-Identifier: MIT */
/* Reranking for TEI's and Cohere's routes: a job that scores documents for a query, and their order by score. */
#ifndef CLFI_SERVE_RERANKED_H
#define CLFI_SERVE_RERANKED_H

#include "serve/row_inputs.h"

/* Makes a job that scores `query` with each of the texts: strings, or objects with a string `text`. ask->field names their field. */
bool srv_rerank_begin(srv_call *call, const srv_model *model, const srv_row_ask *ask, const json_t *query, const json_t *texts);

/* The text of a document, borrowed. */
clf_text srv_document_text(const json_t *document);

/* Indices of `count` scores, the highest score first; equal scores keep their order. *out: the caller frees it. OUT_OF_MEMORY. */
clf_status srv_order_by_score(const float *scores, size_t count, size_t **out);

#endif
