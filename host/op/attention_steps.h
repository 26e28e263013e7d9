/* SPDX-License-Identifier: MIT */
/* The steps of attention on views (scores, context, dropout), and fused attention of dense batches. */
#ifndef CLFI_OP_ATTENTION_STEPS_H
#define CLFI_OP_ATTENTION_STEPS_H

#include "clformer/attention.h"
#include "op/attention.h"

/* As clf_attention_scores, clf_attention_context and clf_dropout, on views; scores and context take ranks 2 to 6. keep: the mask as i32
 * [...,ceil(Q/32),K] (op/attention_keep.h), or NULL. */
clf_status clfi_attention_scores(clf_context *context, const clf_view *q, const clf_view *k, float scale, const clf_view *scores);
clf_status clfi_attention_context(clf_context *context, const clf_view *weights, const clf_view *v, const clf_view *keep,
                                  const clf_view *out);
clf_status clfi_dropout(clf_context *context, const clf_view *x, float probability, uint64_t seed, const clf_view *y);

/* clfi_attention for `sequences` sequences of equal lengths, packed without gaps; args->batch is ignored. UNSUPPORTED also for more than
 * 2^31 - 1 rows. Synchronous (a small upload). */
clf_status clfi_attention_dense(clf_context *context, int64_t sequences, int64_t queries, int64_t keys, const clf_attention_args *args);

/* INVALID_ARGUMENT ("E_VALUE"): probability outside [0,1). */
clf_status clfi_check_dropout(const char *op, float probability);

#endif
