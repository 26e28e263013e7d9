/* SPDX-License-Identifier: MIT */
/* Attention over dense batches with masks of every kind, fused or in steps. It is used by the public attention with its scores (of one
 * head), by multi-head attention, by the layers of a transformer over dense batches, and for the weights that pictures show. */
#ifndef CLFI_OP_DENSE_ATTENTION_H
#define CLFI_OP_DENSE_ATTENTION_H

#include "clformer/attention.h"
#include "op/mask.h"

/* One attention's masks over scores [N,H,Q,K]: views in their shape, buffer NULL: none. */
typedef struct clf_dense_masks {
    clf_view mask, padding, attention; /* u8 */
    clf_view lengths;                  /* i32: keys from this index on are masked; stride 0 over heads and keys */
    clf_view bias;                     /* f32, added to the scores */
    bool is_causal;
    clf_empty_rows empty_rows;
} clf_dense_masks;

/* Checks a caller's masks (NULL: none) and views them in the shape of scores [N,H,Q,K]. form: required form of the general mask; the other
 * masks have one form each. Messages begin with `what`. Sets no out->lengths and out->bias. INVALID_ARGUMENT (clfi_options_read's;
 * "E_SHAPE: ...", "E_DTYPE: ...", "E_VALUE: ..."). */
clf_status clfi_dense_masks_bind(clf_context *context, const char *what, const clf_mask_form *form, const clf_attention_masks *masks,
                                 const clf_view *scores, clf_dense_masks *out);

/* clfi_dense_masks_bind with the form that multi-head attention requires of the general mask in that layout. */
clf_status clfi_dense_masks_bind_layout(clf_context *context, const char *what, clf_layout layout, const clf_attention_masks *masks,
                                        const clf_view *scores, clf_dense_masks *out);

/* Attention of H heads in N sequences. Views of four axes, any strides; f32, f16 or bf16. */
typedef struct clf_dense_attention {
    const clf_view *q, *k, *v; /* [N,H,Q,d], [N,H,K,d], [N,H,K,dv] */
    const clf_view *out;       /* [N,H,Q,dv] */
    const clf_dense_masks *masks;
    float scale;
    float dropout; /* probability that a weight is dropped; 0: none */
    uint64_t seed;
    const clf_view *weights;  /* [N,H,Q,K] f32: receives the weights before dropout; NULL: not wanted */
    clf_score_function score; /* changes the scores; NULL: none */
    void *score_user;
    clf_score_call call; /* layer, is_decoder and is_source for `score`; the attention fills in the rest */
    /* Writes scores in place of scale q k^T to [N,H,Q,K] f32; NULL: none. */
    clf_status (*make_scores)(clf_context *context, const void *user, const clf_view *scores);
    const void *make_user;
} clf_dense_attention;

/* out = softmax(scale q k^T under the masks) v. It is fused if types and strides allow it and nothing needs the scores: weights, dropout, a
 * bias, `score` or make_scores. Else scores, softmax and context run one by one. Temporaries come from the context's arena. Enqueued, after
 * a small synchronous upload if fused. */
clf_status clfi_dense_attend(clf_context *context, const clf_dense_attention *attention);

/* Computes only the weights; out and v are not used. */
clf_status clfi_dense_weights(clf_context *context, const clf_dense_attention *attention);

#endif
