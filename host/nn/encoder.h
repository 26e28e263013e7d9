/* SPDX-License-Identifier: MIT */
/* Transformer encoder over packed sequences: self-attention without padding. */
#ifndef CLFI_NN_ENCODER_H
#define CLFI_NN_ENCODER_H

#include "nn/layer.h"
#include "op/attention.h"

/* A stack without source attention. */
typedef clf_stack clf_encoder;

/* Runs every layer in place on x [T,C] f32, dense, whose rows are the packed sequences of `batch`; rows attend as the layer's shape says.
 * positions: i32 [T], NULL where no layer turns by them. Temporary memory as clfi_stack_forward. Enqueued. */
clf_status clfi_encoder_forward(clf_context *context, const clf_encoder *encoder, const clf_attention_batch *batch,
                                const clf_view *positions, const clf_view *x);

/* Runs layers 0..layer in the same way and also writes the attention weights of that last one, softmax(scale q k^T), to weights [H,T,T]
 * f32, dense. The batch holds one sequence. INVALID_ARGUMENT: layer outside 0..layer_count-1. Enqueued; synchronous where
 * the layer has a window or a bias by distance. */
clf_status clfi_encoder_weights(clf_context *context, const clf_encoder *encoder, const clf_attention_batch *batch,
                                const clf_view *positions, int64_t layer, const clf_view *x, const clf_view *weights);

#endif
