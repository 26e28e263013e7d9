/* SPDX-License-Identifier: MIT */
/* Attention: scoring functions, context, multi-head attention. In every mask 0 means "must not attend", anything else "keep"; masks given
 * together combine by AND. Outputs take any strides but 0 along an axis of several elements (clformer.h). */
#ifndef CLFORMER_ATTENTION_H
#define CLFORMER_ATTENTION_H

#include "clformer/masks.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Scoring functions of a query q [dq] and a key k [dk] (Zhang et al., Dive into Deep Learning, 11.3; Luong et al. 2015; Bahdanau et al.
 * 2015):
 *   dot       s q.k                  dq = dk; default s = 1/sqrt(dq)
 *   additive  s w_v . tanh(W_q q + W_k k), default s = 1
 *   bilinear  s q^T M k              default s = 1/sqrt(dk)
 *   distance  -s |q - k|^2 / 2       dq = dk; default s = 1: a Gaussian kernel of width 1 */
typedef enum clf_score { CLF_SCORE_DOT, CLF_SCORE_ADDITIVE, CLF_SCORE_BILINEAR, CLF_SCORE_DISTANCE } clf_score;

typedef struct clf_attention_params {
    size_t size; /* sizeof(clf_attention_params) */
    clf_score score;
    float scale;                      /* s; 0: the score's default */
    const clf_tensor *w_q;            /* additive: [h,dq] */
    const clf_tensor *w_k;            /* additive: [h,dk] */
    const clf_tensor *w_v;            /* additive: [h] or [1,h] */
    const clf_tensor *m;              /* bilinear: [dq,dk] */
    const clf_tensor *lengths;        /* i32 [B] or [B,Q]: key j is kept if j < length */
    const clf_attention_masks *masks; /* its mask [B|1,Q|1,K|1]; NULL: every key, queries without one give zeros */
    const clf_tensor *bias;           /* f32 [B|1,Q|1,K|1], added to the scaled scores */
    float dropout;                    /* probability that a weight becomes 0 (the others are divided by 1 - dropout); 0: none (inference) */
    uint64_t seed;                    /* of the dropout; the same on every device */
    clf_tensor *weights;              /* f32 [B,Q,K], any strides: receives the weights before dropout; NULL: not wanted */
} clf_attention_params;

#define CLF_ATTENTION_PARAMS_INIT                                    \
    {                                                                \
        .size = sizeof(clf_attention_params), .score = CLF_SCORE_DOT \
    }
CLF_API CLF_NODISCARD clf_status clf_attention_params_default(clf_attention_params *out, size_t size); /* clformer.h: options */

/* out[b,i,:] = sum_j softmax_j(score(q[b,i], k[b,j])) v[b,j,:].
 * q [B,Q,dq], k [B,K,dk], v [B,K,dv], out [B,Q,dv]: f32, f16 or bf16, any strides; out overlaps no input. Inputs may be the same tensor. K
 * = 0 gives zeros.
 * f32 arithmetic; both products keep the context's precision (context.h). Let r be its part of S (0, 1.01 2^-15, 1.01 2^-7), t = 2^-25 at
 * MEDIUM, else 0, p_j the weight of key j, and s q[b,i].k[b,j] the score. Beside the error of float32, a score is off by at most
 *   e_j = r sum_c |s q_c k_jc| + t sum_c (|s q_c| + max(1, |s|) (|k_jc| + 1)),
 * and with e the largest e_j of usable keys, a result is off by at most
 *   (exp(2e) (1 + 2r) - 1) sum_j p_j |v_j| + t max_j p_j sum_j (|v_j| + 2).
 * A result that needs an infinity may be NaN below HIGHEST, and at MEDIUM one that needs a number from 65520 on. Masking is exact at each
 * precision: a masked key has weight 0 and no effect, whatever its rows of k and v hold. A usable score of NaN or +inf makes the query's
 * output NaN, and so does a usable key whose value is NaN or infinite while its weight underflows to 0. The distance is computed from
 * differences, so large q and k near each other lose nothing. Asking for the weights changes the output by rounding alone, with one
 * exception. Without them the values are summed with weights of which the largest is 1. If that sum leaves float32's range, the output
 * is infinite (|v| of 3.4e38 / K and less is safe). Enqueued; temporaries come from the context's arena. Scores [B,Q,K] are stored there if
 * weights, dropout, a bias, or the additive or distance score need them. They are stored also if q, k and v have different types (the
 * bilinear score's q becomes f32), or strides that the fused kernels do not take. [B,Q,K,h] is never stored. params NULL = defaults.
 * INVALID_ARGUMENT (detail begins "E_SHAPE", "E_DTYPE" or "E_VALUE"): operands that do not fit, a missing or superfluous weight of the
 * score, dropout outside [0,1). UNSUPPORTED: B Q or B K of 2^31 and more. */
CLF_API CLF_NODISCARD clf_status clf_attention(clf_context *context, const clf_tensor *q, const clf_tensor *k, const clf_tensor *v,
                                               const clf_attention_params *params, clf_tensor *out);

/* The steps of dot-product attention one by one, so that a variant may replace one (the softmax between them is clf_softmax):
 * scores[...,i,j] = scale q[...,i,:] . k[...,j,:], and out[...,i,:] = sum_j weights[...,i,j] v[...,j,:].
 * q [...,Q,d], k [...,K,d], scores and weights [...,Q,K], v [...,K,dv], out [...,Q,dv] with the same 0 to 4 leading axes, any strides.
 * mask u8, the rank of weights, each size that of weights or 1, 0 = masked: a masked key of weight 0 is left out, whatever its row of v
 * holds. NULL: no key is left out, so a weight of 0 times NaN or infinity gives NaN, as everywhere for keys that are kept. Enqueued;
 * temporaries come from the context's arena. INVALID_ARGUMENT ("E_SHAPE", "E_DTYPE"). */
CLF_API CLF_NODISCARD clf_status clf_attention_scores(clf_context *context, const clf_tensor *q, const clf_tensor *k, float scale,
                                                      clf_tensor *scores);
CLF_API CLF_NODISCARD clf_status clf_attention_context(clf_context *context, const clf_tensor *weights, const clf_tensor *v,
                                                       const clf_tensor *mask, clf_tensor *out);

/* Dropout: y = x / (1 - probability) where element n (in C order) is kept, else 0. Kept: the n-th uniform number of Philox 4x32-10 (Salmon
 * et al. 2011; counter n / 4, word n % 4, key = seed) is at least `probability`; the same on every device. x, y: f32, f16 or bf16, one
 * shape, any strides; y may be x. INVALID_ARGUMENT ("E_VALUE"): probability outside [0,1). */
CLF_API CLF_NODISCARD clf_status clf_dropout(clf_context *context, const clf_tensor *x, float probability, uint64_t seed, clf_tensor *y);

/* Multi-head attention (Vaswani et al. 2017, 3.2.2): heads h = 0..H-1 attend with W_q q, W_k k, W_v v, columns h*d .. (h+1)*d each; their
 * contexts are concatenated in that order and multiplied with W_o. Linear layers are x W^T + b, weights [out,in]. */
typedef struct clf_multi_head_attention clf_multi_head_attention;

typedef struct clf_multi_head_attention_weights {
    size_t size;                             /* sizeof(clf_multi_head_attention_weights) */
    const clf_tensor *w_q, *w_k, *w_v, *w_o; /* [H*d,Dq], [H*d,Dk], [H*dv,Dv], [Do,H*dv]; w_o NULL: no output projection */
    const clf_tensor *b_q, *b_k, *b_v, *b_o; /* [rows of the weight] or NULL */
} clf_multi_head_attention_weights;

#define CLF_MULTI_HEAD_ATTENTION_WEIGHTS_INIT            \
    {                                                    \
        .size = sizeof(clf_multi_head_attention_weights) \
    }
CLF_API CLF_NODISCARD clf_status clf_multi_head_attention_weights_default(clf_multi_head_attention_weights *out, size_t size);

/* Packs the weights (f32, f16 or bf16, any strides) into memory of its own: the tensors may be changed and destroyed afterwards.
 * INVALID_ARGUMENT ("E_SHAPE", "E_DTYPE", "E_VALUE"): heads < 1, rows that heads do not divide, shapes that do not fit each other, b_o
 * without w_o. *out: the caller destroys it. */
CLF_API CLF_NODISCARD clf_status clf_multi_head_attention_create(clf_context *context, int64_t heads,
                                                                 const clf_multi_head_attention_weights *weights,
                                                                 clf_multi_head_attention **out);
CLF_API void clf_multi_head_attention_destroy(clf_multi_head_attention *attention);

typedef enum clf_layout {
    CLF_LAYOUT_NLD, /* batch, sequence, features */
    CLF_LAYOUT_LND  /* sequence, batch, features */
} clf_layout;

/* A custom score function. The library calls it on the host, between the scores and their softmax. The function enqueues kernels that
 * replace or change the scores on the device (relative positions, biases, other products than q.k). */
typedef struct clf_score_call {
    size_t size;         /* of the struct that the library knows; members from there on are absent */
    const clf_tensor *q; /* [N,H,Q,d] f32: the projected queries of all heads, any strides */
    const clf_tensor *k; /* [N,H,K,d] likewise */
    clf_tensor *scores;  /* [N,H,Q,K] f32, any strides: scale q.k on entry; on return what the masks and the softmax get */
    float scale;
    int64_t layer; /* the layer of a clf_transformer that this attention belongs to; else 0 */
    int is_decoder;
    int is_source; /* nonzero: a decoder layer's attention to the memory */
} clf_score_call;

/* The tensors belong to the call and are invalid after it. A status other than CLF_OK ends the pass, which returns it. The function may
 * call every function of the library on `context`, except the pass that called it. */
typedef clf_status (*clf_score_function)(clf_context *context, const clf_score_call *call, void *user);

typedef struct clf_multi_head_attention_params {
    size_t size; /* sizeof(clf_multi_head_attention_params) */
    clf_layout layout;
    float scale;                      /* 0: 1/sqrt(d) */
    const clf_attention_masks *masks; /* NULL: none. Its mask: NLD [N|1,H|1,Q|1,K|1]; LND that, or [Q|1,K,N|1] for all heads */
    float dropout;                    /* of the weights; 0: none */
    uint64_t seed;
    /* f32 [N,H,Q,K], any strides (a permuted view gives another order): the weights before dropout; NULL: not wanted */
    clf_tensor *weights;
    clf_score_function score; /* changes the scores before masks and softmax; NULL: none */
    void *score_user;         /* its last argument */
} clf_multi_head_attention_params;

#define CLF_MULTI_HEAD_ATTENTION_PARAMS_INIT                                      \
    {                                                                             \
        .size = sizeof(clf_multi_head_attention_params), .layout = CLF_LAYOUT_NLD \
    }
CLF_API CLF_NODISCARD clf_status clf_multi_head_attention_params_default(clf_multi_head_attention_params *out, size_t size);

/* q [N,Q,Dq], k [N,K,Dk], v [N,K,Dv], out [N,Q,Do] (Do = H*dv without w_o), or the first two axes exchanged: f32, f16 or bf16, each with
 * evenly spaced rows (a dense tensor has them). out overlaps no input. q, k, v may be one tensor (self-attention). A query without usable
 * keys gets the context of the policy for empty rows; w_o and b_o are applied to it as to others. Numerics as clf_attention. context: the
 * object's, or one that shares its cl_context. Enqueued; temporaries come from the context's arena. INVALID_ARGUMENT ("E_SHAPE", "E_DTYPE",
 * "E_VALUE"; another context). */
CLF_API CLF_NODISCARD clf_status clf_multi_head_attention_apply(clf_context *context, const clf_multi_head_attention *attention,
                                                                const clf_tensor *q, const clf_tensor *k, const clf_tensor *v,
                                                                const clf_multi_head_attention_params *params, clf_tensor *out);

#ifdef __cplusplus
}
#endif
#endif
