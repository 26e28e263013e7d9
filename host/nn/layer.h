/* SPDX-License-Identifier: MIT */
/* Transformer layers and stacks of them (Vaswani et al. 2017; pre-norm: Xiong et al. 2020). What encoders and decoders share; how queries meet
 * keys is the pass's business, so that packed sequences, cached decoding and dense batches with masks run through the same layers. */
#ifndef CLFI_NN_LAYER_H
#define CLFI_NN_LAYER_H

#include "nn/feed_forward.h"

/* Gain and shift of a layer norm; borrowed views (buffer NULL = absent). */
typedef struct clf_norm {
    clf_view gamma, beta;
} clf_norm;

/* Weights of a layer; the linears belong to the stack. */
typedef struct clf_layer {
    clf_linear *qkv;           /* [3C, C]: query, key and value projections side by side */
    clf_linear *output;        /* [C, C] */
    clf_linear *source_query;  /* [C, C]; the source_ ones only in stacks with source attention */
    clf_linear *source_kv;     /* [2C, C]: keys and values of the memory */
    clf_linear *source_output; /* [C, C] */
    clf_linear *ffn_in;        /* [F, C] */
    clf_linear *ffn_gate;      /* [F, C]; NULL: plain feed-forward network */
    clf_linear *ffn_out;       /* [C, F] */
    clf_norm attention_norm, source_norm, ffn_norm;
} clf_layer;

typedef struct clf_stack {
    int64_t width, hidden_width; /* C, F */
    int64_t heads;               /* H; head size D = C / H */
    clf_activation activation;
    float norm_eps;
    bool norm_first;     /* pre-norm: x += f(LN(x)); otherwise post-norm: x = LN(x + f(x)) */
    bool has_source;     /* layers attend to a memory between self-attention and feed-forward network */
    clf_norm final_norm; /* after the last layer; gamma.buffer NULL: none */
    int64_t layer_count;
    clf_layer *layers; /* owned, with their linears */
} clf_stack;

/* Allocates layer_count empty layers; the caller fills them. INVALID_ARGUMENT: width is not a multiple of heads. */
clf_status clfi_stack_init(clf_stack *stack, int64_t layer_count);
void clfi_stack_clear(clf_stack *stack);

/* How queries meet keys in one run over T rows. Both functions write the mixed values to out [T,H,D], dense. */
typedef struct clf_layer_pass clf_layer_pass;
struct clf_layer_pass {
    /* q, k, v [H,T,D]: this layer's projections of the rows. */
    clf_status (*self)(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass, int64_t layer, const clf_view *q,
                       const clf_view *k, const clf_view *v, const clf_view *out);
    /* q [H,T,D]; keys and values of the memory are the pass's. NULL where the stack has no source attention. */
    clf_status (*source)(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass, int64_t layer, const clf_view *q,
                         const clf_view *out);
    const void *user;
};

/* Runs every layer in place on x [T,C] f32, dense, then final_norm. Pre-norm: x += SelfAttention(LN1 x); x += SourceAttention(LN2 x); x += FFN(LN3 x).
 * Post-norm: x = LN1(x + SelfAttention(x)), and so on. Temporary memory: T x (5C + max(3C, F)) floats of the context's arena, gated F more. Enqueued. */
clf_status clfi_stack_forward(clf_context *context, const clf_stack *stack, const clf_layer_pass *pass, const clf_view *x);

/* *out: the layers up to `layer`, borrowed. INVALID_ARGUMENT: `name` ("encoder") has no such layer. */
clf_status clfi_stack_up_to(const clf_stack *stack, const char *name, int64_t layer, clf_stack *out);

/* Scale of the scores: 1/sqrt(D). */
float clfi_stack_scale(const clf_stack *stack);

#endif
