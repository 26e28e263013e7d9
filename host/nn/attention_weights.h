/* SPDX-License-Identifier: MIT */
/* Computes attention weights on request, for pictures. Passes that need only the result never compute them. */
#ifndef CLFI_NN_ATTENTION_WEIGHTS_H
#define CLFI_NN_ATTENTION_WEIGHTS_H

#include "nn/layer.h"

/* weights[h,i,j] = softmax over j of a layer's scores, with its window and its bias; is_causal: over j <= i. q [H,T,D] and k [G,T,D] hold
 * one sequence, after the norms of heads and the rotary encoding. weights [H,T,T] f32, dense. Synchronous if the layer has a window or a
 * bias, else enqueued. */
clf_status clfi_attention_weights(clf_context *context, const clf_stack *stack, int64_t layer, const clf_view *q, const clf_view *k,
                                  bool is_causal, const clf_view *weights);

/* weights[h,i,j] = softmax over j of scale q[h,i,:] . k[g,j,:] for keys k [G,S,D] of a memory; weights [H,T,S]. Enqueued. */
clf_status clfi_source_weights(clf_context *context, float scale, const clf_view *q, const clf_view *k, const clf_view *weights);

#endif
