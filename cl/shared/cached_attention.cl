/* SPDX-License-Identifier: MIT */
/* Attention of single queries to cached keys: out[n,h,:] = sum_j p_j v[row(n,j),g,:], p = softmax over j < count(n) of scale q[h,n,:] .
 * k[row(n,j),g,:], g = h / group.
 *
 * row(n,j) is rows[n,j], a table of cache rows, which a beam reorders instead of the cache; count(n) is counts[n]. Softmax is online over
 * blocks of keys: running maximum, sum and mixed values are rescaled by each block. cached_attention_vector: one work-item takes all heads
 * of a query or, if queries are few, the heads that share keys. cached_attention_lanes: one work-item takes neighbouring queries and some
 * heads. A block of both has WIDTH keys.
 * cached_attention_group: WG work-items share a query, a head and a part of the keys; a block has WG keys. */
#include "types.cl"
#include "softmax_exp.cl"

#ifndef HEAD
#error "HEAD: elements of a head"
#endif
#if !defined(HAS_WINDOW) || !defined(HAS_SOFT_CAP) || !defined(HAS_BIAS)
#error "HAS_WINDOW: only the last keys count; HAS_SOFT_CAP: scores s are cap tanh(s / cap); HAS_BIAS: distances add to scores"
#endif

#if !defined(KV_T) || !defined(LOAD_KV) || !defined(IS_Q8)
#error "KV_T, LOAD_KV: type of keys and values; IS_Q8: they are q8_0 rows of bytes"
#endif

/* KV_AT: element c of a head's row that begins at p + at (in elements of KV_T). */
#if IS_Q8
#include "cache_q8.cl"
#define ROW CACHE_ROW_Q8(HEAD)
#define KV_AT(p, at, c) ((float)as_char((p)[(at) + (c)]) * cache_scale((p) + (at), HEAD, c))
#else
#define ROW HEAD /* elements of KV_T of a head's row */
#define KV_AT(p, at, c) LOAD_KV((p) + (c), at)
#endif

#if HAS_SOFT_CAP
#define CAPPED(score, cap) ((cap) * tanh((score) / (cap)))
#else
#define CAPPED(score, cap) (score)
#endif

/* The first key that a query of `count` keys sees. */
#if HAS_WINDOW
#define FIRST_KEY(count, window) max(0, (count) - (window))
#else
#define FIRST_KEY(count, window) 0
#endif

/* Offsets and strides of all operands, in elements, passed by value from the host. */
typedef struct cached_layout {
    long q_offset, q_head_stride, q_stride;
    long k_offset, k_head_stride, k_stride;
    long v_offset, v_head_stride, v_stride;
    long out_offset, out_stride, out_head_stride;
    long rows_offset, rows_stride, count_offset;
    long bias_offset, bias_stride, bias_reach;
} cached_layout;

/* Adds bias[h, max(reach + j - last, 0)] to the score of key j. The query is at position `last`, that of its last key. */
#if HAS_BIAS
#define BIASED(score, at, bias, h, j, last)                                                                                 \
    ((score) + (bias)[(at)->bias_offset + (h) * (at)->bias_stride + max((at)->bias_reach + (long)((j) - (last)), (long)0)])
#else
#define BIASED(score, at, bias, h, j, last) (score)
#endif

inline long cache_row(const cached_layout *at, __global const int *rows, int n, int j)
{
    return rows[at->rows_offset + n * at->rows_stride + j];
}
