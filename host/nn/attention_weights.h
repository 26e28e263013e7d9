/* SPDX-License-Identifier: MIT */
/* Attention weights on request, for pictures of what a layer looks at; passes that only want the result never compute them. */
#ifndef CLFI_NN_ATTENTION_WEIGHTS_H
#define CLFI_NN_ATTENTION_WEIGHTS_H

#include "nn/layer.h"

/* weights[h,i,j] = softmax over j of scale q[h,i,:] . k[h,j,:], causal: over j <= i. q [H,T,D], k [H,S,D] of one sequence, weights [H,T,S] f32,
 * dense. Enqueued. */
clf_status clfi_attention_weights(clf_context *context, float scale, const clf_view *q, const clf_view *k, bool is_causal,
                                  const clf_view *weights);

#endif
