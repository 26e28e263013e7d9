/* SPDX-License-Identifier: MIT */
/* The best hits of a search in the order of a cross-encoder's scores. */
#ifndef CLFI_JOBS_RERANKING_H
#define CLFI_JOBS_RERANKING_H

#include "jobs/embedding.h"

double cli_sigmoid(double x);

/* order[0..count) by falling logits[order[i]]; equal ones by lower index. */
void cli_order_by_logit(const float *logits, size_t *order, size_t count);

/* values and indices [queries, from], best first, become [queries, top]: the best of them by the logits of the session's scorer, which
 * values then are; all devices of the session score them. The corpus has texts; `name` is its file, for messages. INTERNAL: a logit is not
 * finite; the text is named by its place there. */
clf_status cli_rerank_hits(cli_session *session, const char *name, const cli_collection *queries, const cli_collection *corpus, size_t from,
                           size_t top, float *values, int64_t *indices, clf_embed_stats *stats);

#endif
