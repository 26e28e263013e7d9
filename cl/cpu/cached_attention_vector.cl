/* SPDX-License-Identifier: MIT */
/* Cached attention on CPUs, with vectors along the head. A work-item has one query, with all heads or one step of them
 * (cached_attention_heads.cl).
 *
 * IS_SPLIT: a query's keys are divided into parts, one for each work-item, so that few queries keep all compute units busy. Each part
 * writes mixed values with their maximum and sum, and cached_attention_vector_merge.cl joins them (Flash-Decoding). */
#include "cached_attention_heads.cl"
#include "attention_part.cl"
#include "item.cl"

#if !defined(HAS_ONE_STEP) || !defined(IS_SPLIT)
#error "HAS_ONE_STEP: a work-item has SHARED_HEADS heads, else all; IS_SPLIT: keys lie in parts"
#endif

/* queries: number of queries of the whole launch. parts: f32 [part_count, queries, heads, PART_SIZE] with IS_SPLIT, otherwise not used. The
 * blocks of keys that a query sees are divided among its parts. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void cached_attention_vector(ITEM_PARAMETERS __global const float *q, __global const KV_T *k, __global const KV_T *v,
                             __global float *out, __global const int *rows, __global const int *counts, cached_layout at, int heads,
                             int group, float scale, int window, float cap, __global const float *bias, int queries,
                             __global float *parts, long parts_offset, int part_count)
{
    const int n = (int)get_global_id(0), first_head = HAS_ONE_STEP ? (int)get_global_id(1) * SHARED_HEADS : 0;
    const int end_head = HAS_ONE_STEP ? first_head + SHARED_HEADS : heads;
    const int keys = counts[at.count_offset + n], first = FIRST_KEY(keys, window);
    int begin = first / WIDTH * WIDTH, end = keys;
#if IS_SPLIT
    const int part_keys = ((end - begin + part_count - 1) / part_count + WIDTH - 1) / WIDTH * WIDTH;
    begin += (int)get_global_id(2) * part_keys;
    end = min(end, begin + part_keys);
#endif
    for (int h = first_head; h < end_head; h += SHARED_HEADS) {
        const int g = (int)((uint)h / (uint)group);
        query_state states[SHARED_HEADS];
        start_heads(&at, q, n, h, scale, states);
        attend_keys(&at, k + at.k_offset + g * at.k_head_stride, v + at.v_offset + g * at.v_head_stride, rows, n, h, begin, end, first,
                    keys, bias, cap, states);
#if IS_SPLIT
        for (int c = 0; c < SHARED_HEADS; c++) {
            __global float *to = parts + parts_offset + (((long)get_global_id(2) * queries + n) * heads + h + c) * PART_SIZE;
            to[PART_MAXIMUM] = states[c].maximum;
            to[PART_SUM] = states[c].sum;
            for (int i = 0; i < VECTORS; i++)
                vector_store_f32(to + i * WIDTH, states[c].mixed[i]);
        }
#else
        store_heads(&at, states, out, n, h);
#endif
    }
}
