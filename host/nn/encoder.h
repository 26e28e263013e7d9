/* SPDX-License-Identifier: MIT */
/* Transformer encoder over packed sequences (Vaswani et al. 2017; pre-norm: Xiong et al. 2020), self-attention without padding. */
#ifndef CLFI_NN_ENCODER_H
#define CLFI_NN_ENCODER_H

#include "op/attention.h"
#include "op/linear.h"

/* Gain and shift of a layer norm; borrowed views (buffer NULL = absent). */
typedef struct clf_norm {
    clf_view gamma, beta;
} clf_norm;

typedef struct clf_encoder_layer {
    clf_linear *qkv;    /* [3C, C]: query, key and value projections side by side */
    clf_linear *output; /* [C, C] */
    clf_linear *ffn_in; /* [F, C] */
    clf_linear *ffn_out; /* [C, F] */
    clf_norm attention_norm, ffn_norm;
} clf_encoder_layer;

typedef struct clf_encoder {
    int64_t width, hidden_width; /* C, F */
    int64_t heads;               /* H; head size D = C / H */
    clf_activation activation;
    float norm_eps;
    bool norm_first; /* pre-norm: x += f(LN(x)); otherwise post-norm: x = LN(x + f(x)) */
    int64_t layer_count;
    clf_encoder_layer *layers; /* owned, with their linears */
} clf_encoder;

/* Allocates layer_count empty layers; the caller fills them. INVALID_ARGUMENT: width is not a multiple of heads. */
clf_status clfi_encoder_init(clf_encoder *encoder, int64_t layer_count);
void clfi_encoder_clear(clf_encoder *encoder);

/* Runs every layer in place on x [T,C] f32, dense, whose rows are the packed sequences of `batch`. Temporary memory: T x (4C + max(3C, F)) floats of
 * the context's arena. Enqueued. */
clf_status clfi_encoder_forward(clf_context *context, const clf_encoder *encoder, const clf_attention_batch *batch, const clf_view *x);

#endif
