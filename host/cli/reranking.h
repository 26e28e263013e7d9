/* SPDX-License-Identifier: MIT */
/* The best hits of a search in the order of a cross-encoder's scores. */
#ifndef CLFI_CLI_RERANKING_H
#define CLFI_CLI_RERANKING_H

#include "cli/embedding.h"
#include "clformer/classify.h"

double cli_sigmoid(double x);

/* order[0..count) by falling logits[order[i]]; equal ones by lower index. */
void cli_order_by_logit(const float *logits, size_t *order, size_t count);

/* values and indices [queries, from], best by cosine, become [queries, top]: the best of them by the reranker's logits, which values then
 * are. INVALID_ARGUMENT: the corpus has no texts. */
clf_status cli_rerank_hits(clf_model *reranker, const cli_collection *queries, const cli_collection *corpus, size_t from, size_t top,
                           float *values, int64_t *indices);

#endif
