/* SPDX-License-Identifier: MIT */
/* Reorders the best hits of a search by the scores of a cross-encoder. */
#ifndef CLFI_JOBS_RERANKING_H
#define CLFI_JOBS_RERANKING_H

#include "jobs/embedding.h"

double cli_sigmoid(double x);

/* Sorts order[0..count) by falling logits[order[i]]; equal ones by lower index. */
void cli_order_by_logit(const float *logits, size_t *order, size_t count);

/* Reorders values and indices [queries, from] to [queries, top]: the hits with the highest logits of the session's scorer, best first;
 * values become these logits. All devices of the session score them. queries and corpus have texts; `name` is the corpus' file, for
 * messages, which give a failing text by its number there. INTERNAL: a logit is not finite. */
clf_status cli_rerank_hits(cli_session *session, const char *name, const cli_collection *queries, const cli_collection *corpus, size_t from,
                           size_t top, float *values, int64_t *indices, clf_embed_stats *stats);

#endif
