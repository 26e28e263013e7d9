/* SPDX-License-Identifier: MIT */
/* Scores of queries and keys that are not a matrix product: one work-item per score.
 * distance: -s/2 sum_c (q_c - k_c)^2, from the differences, so that large q and k that are close lose no digits.
 * additive: s sum_h w_h tanh(q_h + k_h) for projected queries and keys; the [queries, keys, h] intermediate exists only in registers. */
#include "types.cl"

#if !defined Q_T || !defined K_T || !defined W_T || !defined SCORE_T
#error "Q_T, K_T, W_T, SCORE_T with LOAD_Q, LOAD_K, LOAD_W, STORE_SCORE: storage types"
#endif

/* Element strides: batch, row, column. */
typedef struct score_strides {
    long batch, row, column;
} score_strides;

#define PARAMETERS                                                                                                             \
    __global const Q_T *q, long q_offset, score_strides qs, __global const K_T *k, long k_offset, score_strides ks,           \
        __global const W_T *w, long w_offset, long w_stride, __global SCORE_T *scores, long scores_offset, score_strides ss,  \
        int keys, int width, float scale

#define START                                                                     \
    const int key = (int)get_global_id(0);                                        \
    const long query = (long)get_group_id(1), batch = (long)get_group_id(2);      \
    if (key >= keys)                                                              \
        return;                                                                   \
    q += q_offset + batch * qs.batch + query * qs.row;                            \
    k += k_offset + batch * ks.batch + key * ks.row;                              \
    scores += scores_offset + batch * ss.batch + query * ss.row + key * ss.column

__kernel void attention_scores_distance(PARAMETERS)
{
    START;
    float sum = 0.0f;
    for (int c = 0; c < width; c++) {
        const float difference = LOAD_Q(q, c * qs.column) - LOAD_K(k, c * ks.column);
        sum = fma(difference, difference, sum);
    }
    STORE_SCORE(scores, 0, -0.5f * scale * sum);
}

__kernel void attention_scores_additive(PARAMETERS)
{
    START;
    w += w_offset;
    float sum = 0.0f;
    for (int c = 0; c < width; c++)
        sum = fma(LOAD_W(w, c * w_stride), tanh(LOAD_Q(q, c * qs.column) + LOAD_K(k, c * ks.column)), sum);
    STORE_SCORE(scores, 0, scale * sum);
}
