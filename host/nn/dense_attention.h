/* SPDX-License-Identifier: MIT */
/* Attention over dense batches with masks of every kind. */
#ifndef CLFI_NN_DENSE_ATTENTION_H
#define CLFI_NN_DENSE_ATTENTION_H

#include "clformer/attention.h"
#include "tensor/view.h"

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

/* The weights alone: out and v are not looked at. */
clf_status clfi_dense_weights(clf_context *context, const clf_dense_attention *attention);

#endif
