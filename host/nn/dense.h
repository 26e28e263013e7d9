/* SPDX-License-Identifier: MIT */
/* Attention over dense batches [N,L,C] or [L,N,C] with masks of every kind, and passes of stacks over them: what multi-head attention and
 * the public Transformer take. */
#ifndef CLFI_NN_DENSE_H
#define CLFI_NN_DENSE_H

#include "clformer/attention.h"
#include "clformer/transformer.h"
#include "nn/decoder.h"

/* One attention's masks over scores [N,H,Q,K]. */
typedef struct clf_dense_masks {
    clf_view mask, padding, attention; /* in the shape of the scores; buffer NULL: none */
    bool is_causal;
    clf_empty_rows empty_rows;
} clf_dense_masks;

/* masks NULL: none. `what` opens messages. INVALID_ARGUMENT ("E_SHAPE: ...", "E_DTYPE: ...", "E_VALUE: ..."). */
clf_status clfi_dense_masks_bind(clf_context *context, const char *what, clf_layout layout, const clf_attention_masks *masks, int64_t batch,
                                 int64_t heads, int64_t queries, int64_t keys, clf_dense_masks *out);

/* Attention of H heads in N sequences. Views of four axes, any strides. */
typedef struct clf_dense_attention {
    const clf_view *q, *k, *v; /* [N,H,Q,d], [N,H,K,d], [N,H,K,dv] f32 */
    const clf_view *out;       /* [N,H,Q,dv] f32, f16 or bf16 */
    const clf_dense_masks *masks;
    float scale;
    float dropout; /* of the weights; 0: none */
    uint64_t seed;
    const clf_view *weights;  /* [N,H,Q,K] f32: receives the weights before dropout; NULL: not wanted */
    clf_score_function score; /* changes the scores; NULL: none */
    void *score_user;
    clf_score_call call; /* whose attention this is, for it; the rest is filled in */
} clf_dense_attention;

/* out = softmax(scale q k^T under the masks) v: fused where neither weights nor dropout nor a score function are asked for, else scores,
 * softmax and context one by one. Enqueued; temporaries come from the context's arena. */
clf_status clfi_dense_attend(clf_context *context, const clf_dense_attention *attention);

typedef struct clf_dense_batch {
    clf_layout layout;
    int64_t batch, length; /* N, and L of the rows that run */
    const clf_dense_masks *self;
    const clf_decoder_memory *memory; /* of decoders: projected rows in the same layout */
    int64_t memory_length;            /* S */
    const clf_dense_masks *source;
    const clf_transformer_params *params; /* checked; NULL: none */
    bool is_decoder;                      /* for their sake */
} clf_dense_batch;

/* x [N*L,C] f32 dense, rows in the layout's order, in place. Enqueued. */
clf_status clfi_dense_forward(clf_context *context, const clf_stack *stack, const clf_dense_batch *batch, const clf_view *x);

#endif
