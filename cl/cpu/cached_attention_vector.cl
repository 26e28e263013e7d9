/* SPDX-License-Identifier: MIT */
/* Cached attention on CPUs: vectors along the head, a work-item for ITEM_HEADS heads of a query. */
#include "cached_attention.cl"
#include "lane_sum.cl"
#include "lane_sums.cl"
#include "prefetch.cl"
#include "item.cl"

#ifndef ITEM_HEADS
#error "ITEM_HEADS: heads of a work-item; 0: all"
#endif

#define LOAD_VECTOR PASTE(vector_, LOAD_KV)
#define VECTORS (HEAD / WIDTH)
#define AHEAD (2 * WIDTH) /* keys between what is asked for and what is read */
#if WIDTH == 16
#define EXP softmax_exp16
#else
DEFINE_SOFTMAX_EXP(softmax_exp_v, floatv, intv, AS_INTV, AS_FLOATV)
#define EXP softmax_exp_v
#endif

/* One block of at most WIDTH keys from `begin` on: their scores are the lanes of a vector. A short block takes its last key again, whose
 * score does not count. Rows are short and lie anywhere, so those of later blocks are asked for while scores are formed. */
inline void attend_block(const cached_layout *at, __global const KV_T *k, __global const KV_T *v, __global const int *rows, int first,
                         int n, int h, int begin, int count, int last, __global const float *bias, const floatv *q, float cap,
                         floatv *mixed, float *maximum, float *sum)
{
    float scores[WIDTH] __attribute__((aligned(64)));
    long row[WIDTH];
    floatv products[WIDTH];
    for (int j = 0; j < WIDTH; j++) {
        row[j] = cache_row(at, rows, first, n, begin + min(j, count - 1));
        const long ahead = cache_row(at, rows, first, n, min(begin + AHEAD + j, last));
        __global const KV_T *key = k + row[j] * at->k_stride;
        for (int i = 0; i < VECTORS; i++) {
            PREFETCH_STREAM(k + ahead * at->k_stride + i * WIDTH);
            PREFETCH_STREAM(v + ahead * at->v_stride + i * WIDTH);
        }
        products[j] = LOAD_VECTOR(key) * q[0];
        for (int i = 1; i < VECTORS; i++)
            products[j] = fma(LOAD_VECTOR(key + i * WIDTH), q[i], products[j]);
    }
    *(floatv *)scores = lane_sums(products);
    float largest = *maximum;
    for (int j = 0; j < WIDTH; j++) {
        scores[j] = j < count ? CAPPED(BIASED(scores[j], at, bias, h, begin + j, last), cap) : -INFINITY;
        largest = scores[j] > largest ? scores[j] : largest;
    }
    const float shift = largest == -INFINITY ? 0.0f : largest, alpha = softmax_exp(*maximum - shift);
    const floatv weights = EXP(*(const floatv *)scores - shift);
    *(floatv *)scores = weights;
    *sum = *sum * alpha + lane_sum(weights);
    *maximum = largest;
    for (int i = 0; i < VECTORS; i++)
        mixed[i] *= alpha;
    for (int j = 0; j < count; j++) {
        __global const KV_T *value = v + row[j] * at->v_stride;
        const floatv weight = (floatv)(scores[j]);
        for (int i = 0; i < VECTORS; i++)
            mixed[i] = fma(LOAD_VECTOR(value + i * WIDTH), weight, mixed[i]);
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void cached_attention_vector(ITEM_PARAMETERS __global const float *q, __global const KV_T *k, __global const KV_T *v,
                             __global float *out, __global const int *rows, __global const int *firsts, __global const int *counts,
                             cached_layout at, int heads, int group, int count, float scale, int window, float cap,
                             __global const float *bias)
{
    const int n = (int)get_global_id(0), first_head = (int)get_global_id(1) * ITEM_HEADS;
    const int end_head = ITEM_HEADS ? min(first_head + ITEM_HEADS, heads) : heads;
    const int first = HAS_ROWS ? 0 : firsts[at.first_offset + n];
#if HAS_COUNTS
    count = counts[at.count_offset + n];
#endif
    for (int h = first_head; h < end_head; h++) {
        __global const float *query = q + at.q_offset + h * at.q_head_stride + n * at.q_stride;
        __global float *to = out + at.out_offset + n * at.out_stride + h * at.out_head_stride;
        floatv queries[VECTORS], mixed[VECTORS];
        float maximum = -INFINITY, sum = 0.0f;
        for (int i = 0; i < VECTORS; i++) {
            queries[i] = vector_load_f32(query + i * WIDTH) * scale;
            mixed[i] = (floatv)(0.0f);
        }
        const int g = (int)((uint)h / (uint)group);
        for (int begin = FIRST_KEY(count, window); begin < count; begin += WIDTH)
            attend_block(&at, k + at.k_offset + g * at.k_head_stride, v + at.v_offset + g * at.v_head_stride, rows, first, n, h, begin,
                         min(WIDTH, count - begin), count - 1, bias, queries, cap, mixed, &maximum, &sum);
        const float factor = sum == 0.0f ? 0.0f : 1.0f / sum; /* no usable key: zeros */
        for (int i = 0; i < VECTORS; i++)
            vector_store_f32(to + i * WIDTH, mixed[i] * factor);
    }
}
