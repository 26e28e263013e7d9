/* SPDX-License-Identifier: MIT */
/* Launchers of the steps of attention that are not matrix products: attention_scores.cl, attention_context.cl and attention_dropout.cl in
 * cl/any. */
#ifndef CLFI_KERNEL_ATTENTION_STEPS_H
#define CLFI_KERNEL_ATTENTION_STEPS_H

#include "tensor/view.h"

/* scores [B,Q,K] of q [B,Q,h] and k [B,K,h], checked by the op. distance: -scale/2 sum_c (q_c - k_c)^2; additive: scale sum_c w_c tanh(q_c
 * + k_c), w [h]. Enqueued. UNSUPPORTED: h is too long for a device with short loops. */
clf_status clfi_attention_distance_launch(clf_context *context, const clf_view *q, const clf_view *k, float scale, const clf_view *scores);
clf_status clfi_attention_additive_launch(clf_context *context, const clf_view *q, const clf_view *k, const clf_view *w, float scale,
                                          const clf_view *scores);

/* out [...,Q,dv] = weights [...,Q,K] v [...,K,dv] without the masked keys of weight 0; equal leading axes. keep i32 [...,ceil(Q/32),K].
 * Enqueued. UNSUPPORTED: K is too large for a device with short loops. */
clf_status clfi_attention_context_launch(clf_context *context, const clf_view *weights, const clf_view *v, const clf_view *keep,
                                         const clf_view *out);

/* y = dropout(x) for views of one shape (op/attention_steps.h). Enqueued. */
clf_status clfi_dropout_launch(clf_context *context, const clf_view *x, float probability, uint64_t seed, const clf_view *y);

#endif
