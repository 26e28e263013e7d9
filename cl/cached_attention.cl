/* SPDX-License-Identifier: MIT */
/* Attention of single queries to cached keys: out[n,h,:] = sum_j p_j v[row(n,j),h,:], p = softmax over j < count(n) of scale q[h,n,:] . k[row(n,j),h,:].
 *
 * row(n,j) is rows[n,j] (HAS_ROWS: a table of cache rows, which a beam reorders instead of the cache), or first[n] + j. count(n) is counts[n]
 * (HAS_COUNTS) or the same for all. Softmax is online over blocks of keys: running maximum, sum and mixed values are rescaled by each block.
 * cached_attention_vector: one work-item takes all heads of a query, WIDTH keys in a block. cached_attention_group: WG work-items share a query
 * and head, WG keys in a block. */
#include "softmax_exp.cl"

#if !defined(HEAD) || !defined(HAS_ROWS) || !defined(HAS_COUNTS)
#error "HEAD: elements of a head; HAS_ROWS, HAS_COUNTS: which tables are given"
#endif

/* Where everything lies, by value from the host; strides in elements. */
typedef struct cached_layout {
    long q_offset, q_head_stride, q_stride;
    long k_offset, k_head_stride, k_stride;
    long v_offset, v_head_stride, v_stride;
    long out_offset, out_stride, out_head_stride;
    long rows_offset, rows_stride;
    long first_offset, count_offset;
} cached_layout;

inline long cache_row(const cached_layout *at, __global const int *rows, int first, int n, int j)
{
#if HAS_ROWS
    return rows[at->rows_offset + n * at->rows_stride + j];
#else
    return first + j;
#endif
}
