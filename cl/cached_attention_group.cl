/* SPDX-License-Identifier: MIT */
/* Cached attention on GPUs: a work-group for each query and head; its items take a key each, then columns of the head. */
#include "cached_attention.cl"
#include "row_reduce.cl"

#if LANES != WG
#error "LANES: the whole work-group shares a row"
#endif

ROW_REDUCTION(group_max, float, ROW_LARGER, CLK_LOCAL_MEM_FENCE)
ROW_REDUCTION(group_sum, float, ROW_PLUS, CLK_LOCAL_MEM_FENCE)

__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void cached_attention_group(__global const float *q, __global const float *k, __global const float *v, __global float *out,
                            __global const int *rows, __global const int *firsts, __global const int *counts, cached_layout at, int heads,
                            int count, float scale)
{
    __local float queries[HEAD], mixed[HEAD], weights[WG], scratch[WG];
    __local long row[WG];
    const int n = (int)get_group_id(0), h = (int)get_group_id(1), item = (int)get_local_id(0);
    const int first = HAS_ROWS ? 0 : firsts[at.first_offset + n];
#if HAS_COUNTS
    count = counts[at.count_offset + n];
#endif
    k += at.k_offset + h * at.k_head_stride;
    v += at.v_offset + h * at.v_head_stride;
    out += at.out_offset + n * at.out_stride + h * at.out_head_stride;
    for (int c = item; c < HEAD; c += WG) {
        queries[c] = q[at.q_offset + h * at.q_head_stride + n * at.q_stride + c] * scale;
        mixed[c] = 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float maximum = -INFINITY, sum = 0.0f;
    for (int begin = 0; begin < count; begin += WG) {
        const int keys = min(WG, count - begin);
        float score = -INFINITY;
        if (item < keys) {
            const long at_row = cache_row(&at, rows, first, n, begin + item);
            __global const float *key = k + at_row * at.k_stride;
            row[item] = at_row;
            score = 0.0f;
            for (int c = 0; c < HEAD; c++)
                score = fma(key[c], queries[c], score);
        }
        const float block_maximum = group_max(scratch, score);
        const float largest = block_maximum > maximum ? block_maximum : maximum;
        const float shift = largest == -INFINITY ? 0.0f : largest, alpha = softmax_exp(maximum - shift);
        const float weight = softmax_exp(score - shift);
        weights[item] = weight;
        sum = sum * alpha + group_sum(scratch, weight); /* its barriers publish weights and rows */
        maximum = largest;
        for (int c = item; c < HEAD; c += WG) {
            float m = mixed[c] * alpha;
            for (int j = 0; j < keys; j++)
                m = fma(v[row[j] * at.v_stride + c], weights[j], m);
            mixed[c] = m;
        }
        barrier(CLK_LOCAL_MEM_FENCE); /* weights and rows are free again */
    }
    const float factor = sum == 0.0f ? 0.0f : 1.0f / sum; /* no usable key: zeros */
    for (int c = item; c < HEAD; c += WG)
        out[c] = mixed[c] * factor;
}
