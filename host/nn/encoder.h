/* SPDX-License-Identifier: MIT */
/* Transformer encoder over packed sequences: self-attention without padding. */
#ifndef CLFI_NN_ENCODER_H
#define CLFI_NN_ENCODER_H

#include "nn/layer.h"
#include "op/attention.h"

/* A stack without source attention. */
typedef clf_stack clf_encoder;

/* Runs every layer in place on x [T,C] f32, dense, whose rows are the packed sequences of `batch`. Rows attend to all rows of their
 * sequence, unless the layer's shape is causal or has a window. positions: i32 [T]; NULL if no layer has a rotary encoding. Temporary
 * memory as for clfi_stack_forward. Enqueued. */
clf_status clfi_encoder_forward(clf_context *context, const clf_encoder *encoder, const clf_attention_batch *batch,
                                const clf_view *positions, const clf_view *x);

/* Runs layers 0..layer in the same way and also writes the attention weights of layer `layer` to weights [H,T,T] f32, dense. The batch
 * holds one sequence. INVALID_ARGUMENT: layer outside 0..layer_count-1. Synchronous if the layer has a window or a bias by distance, else
 * enqueued. */
clf_status clfi_encoder_weights(clf_context *context, const clf_encoder *encoder, const clf_attention_batch *batch,
                                const clf_view *positions, int64_t layer, const clf_view *x, const clf_view *weights);

#endif
