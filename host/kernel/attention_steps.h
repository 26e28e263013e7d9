/* SPDX-License-Identifier: MIT */
/* Launchers of the steps of attention that are no matrix product: attention_scores.cl, attention_context.cl and attention_dropout.cl in
 * cl/any. */
#ifndef CLFI_KERNEL_ATTENTION_STEPS_H
#define CLFI_KERNEL_ATTENTION_STEPS_H

#include "tensor/view.h"

/* scores [B,Q,K] of q [B,Q,w] and k [B,K,w]; w is what the columns are. Checked by the op. */
clf_status clfi_attention_distance_launch(clf_context *context, const clf_view *q, const clf_view *k, float scale, const clf_view *scores);
clf_status clfi_attention_additive_launch(clf_context *context, const clf_view *q, const clf_view *k, const clf_view *w, float scale,
                                          const clf_view *scores);

/* out [...,Q,dv] = weights [...,Q,K] v [...,K,dv] without the masked keys of weight 0; equal leading axes. keep i32 [...,ceil(Q/32),K]. */
clf_status clfi_attention_context_launch(clf_context *context, const clf_view *weights, const clf_view *v, const clf_view *keep,
                                         const clf_view *out);

/* y = dropout(x), one shape. */
clf_status clfi_dropout_launch(clf_context *context, const clf_view *x, float probability, uint64_t seed, const clf_view *y);

#endif
