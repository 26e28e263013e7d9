/* SPDX-License-Identifier: MIT */
/* Cached attention on GPUs. A work-group has a query, a head and a part of the keys: first each item takes a key, then each takes columns
 * of the head. Few queries and heads would leave most of a GPU idle, so long caches are cut into parts (IS_SPLIT). Each group then writes
 * its unnormalised mix of values with its maximum and sum, and cached_attention_merge.cl joins the parts of a query and head
 * (Flash-Decoding). Four elements of a key are read at a time if rows are aligned to four, and eight rows of values are under way at once.
 * The cache rows of a block's keys are looked up during the block before it. */
#include "cached_attention.cl"
#include "attention_part.cl"
#include "row_sum.cl"
#include "wide_loads.cl"
#include "group.cl"

#if LANES != WG
#error "LANES: the whole work-group shares a row"
#endif
#if !defined(IS_SPLIT) || !defined(IS_ALIGNED) || !defined(OFFSET_T)
#error "IS_SPLIT: keys lie in parts; IS_ALIGNED: rows of k start at multiples of four elements and HEAD is one; OFFSET_T: uint or ulong"
#endif

ROW_REDUCTION(group_max, float, ROW_LARGER, CLK_LOCAL_MEM_FENCE)
ROW_SUM(group_sum, float, CLK_LOCAL_MEM_FENCE)

#if IS_Q8
#define KEY_FOUR(key, c) (convert_float4(*(__global const char4 *)((key) + (c))) * cache_scale(key, HEAD, c))
#else
#define KEY_FOUR(key, c) FOUR(LOAD_KV, (key) + (c), ALIGNED_VECTORS)
#endif

inline float key_times_query(__global const KV_T *key, __local const float *query)
{
#if IS_ALIGNED
    float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
    for (int c = 0; c < HEAD; c += 4) {
        const float4 values = KEY_FOUR(key, c), factors = *(__local const float4 *)(query + c);
        s0 = fma(values.x, factors.x, s0);
        s1 = fma(values.y, factors.y, s1);
        s2 = fma(values.z, factors.z, s2);
        s3 = fma(values.w, factors.w, s3);
    }
    return (s0 + s1) + (s2 + s3);
#else
    float sum = 0.0f;
    for (int c = 0; c < HEAD; c++)
        sum = fma(KV_AT(key, 0, c), query[c], sum);
    return sum;
#endif
}

/* If a group has more items than a head has columns, its items form teams of HEAD items, and each team takes every TEAMS-th key. Small
 * groups have one team, because llvmpipe takes five times as long to compile teams. */
#if WG > 64 && WG / HEAD > 1
#define TEAMS (WG / HEAD)
#define TEAM_OF(m) ((m) / HEAD)
#else
#define TEAMS 1
#define TEAM_OF(m) 0
#endif

/* start + sum_j weights[j] v[place[j] + c], over every TEAMS-th key j from `first` on. */
inline float mix_values(__global const KV_T *v, int c, __local const OFFSET_T *place, __local const float *weights, int first,
                        int keys, float start)
{
#define VALUE(i) KV_AT(v, place[j + (i) * TEAMS], c)
#define WEIGHT(i) weights[j + (i) * TEAMS]
    int j = first;
    for (; j + 7 * TEAMS < keys; j += 8 * TEAMS) {
        const float v0 = VALUE(0), v1 = VALUE(1), v2 = VALUE(2), v3 = VALUE(3);
        const float v4 = VALUE(4), v5 = VALUE(5), v6 = VALUE(6), v7 = VALUE(7);
        start = fma(v3, WEIGHT(3), fma(v2, WEIGHT(2), fma(v1, WEIGHT(1), fma(v0, WEIGHT(0), start))));
        start = fma(v7, WEIGHT(7), fma(v6, WEIGHT(6), fma(v5, WEIGHT(5), fma(v4, WEIGHT(4), start))));
    }
    for (; j < keys; j += TEAMS)
        start = fma(VALUE(0), WEIGHT(0), start);
#undef WEIGHT
#undef VALUE
    return start;
}

/* Offsets of the kernel's local arrays in a graph's local memory, in bytes. */
#define MIXED_AT ((HEAD + 3) / 4 * 16)
#define WEIGHTS_AT (MIXED_AT + (TEAMS * HEAD + 3) / 4 * 16)
#define SCRATCH_AT (WEIGHTS_AT + WG * 4)
#define PLACE_AT (SCRATCH_AT + WG * 4)

inline float joined_mix(__local const float *mixed, int c)
{
    float sum = mixed[c];
    for (int team = 1; team < TEAMS; team++)
        sum += mixed[team * HEAD + c];
    return sum;
}

/* parts: f32 [parts, queries, heads, PART_SIZE] with IS_SPLIT, otherwise not used. Each part has part_keys keys, counted from the first key
 * that a query sees. */
__kernel SUBGROUP_SIZE __attribute__((reqd_work_group_size(WG, 1, 1)))
void cached_attention_group(GROUP_PARAMETERS __global const float *q, __global const KV_T *k, __global const KV_T *v, __global float *out,
                            __global const int *rows, __global const int *counts, cached_layout at, int heads, int group, float scale,
                            int window, float cap, __global const float *bias, __global float *parts, long parts_offset, int part_keys,
                            int query_count)
{
    LOCAL_ALIGNED_ARRAY(float, queries, HEAD, 0)
    LOCAL_ARRAY(float, mixed, TEAMS * HEAD, MIXED_AT)
    LOCAL_ARRAY(float, weights, WG, WEIGHTS_AT)
    LOCAL_ARRAY(float, scratch, WG, SCRATCH_AT)
    LOCAL_ARRAY(OFFSET_T, place, WG, PLACE_AT) /* offsets of rows of values, in elements: one product for all columns */
    const int n = (int)get_group_id(0), h = (int)get_group_id(1), item = (int)get_local_id(0);
    int count = counts[at.count_offset + n];
    const int last = count - 1;
    int begin = FIRST_KEY(count, window);
#if IS_SPLIT
    begin += (int)get_group_id(2) * part_keys;
    count = min(count, begin + part_keys);
#endif
    const int g = (int)((uint)h / (uint)group);
    k += at.k_offset + g * at.k_head_stride;
    v += at.v_offset + g * at.v_head_stride;
    for (int c = item; c < HEAD; c += WG)
        queries[c] = q[at.q_offset + h * at.q_head_stride + n * at.q_stride + c] * scale;
    for (int m = item; m < TEAMS * HEAD; m += WG)
        mixed[m] = 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    float maximum = -INFINITY, sum = 0.0f;
    long next_row = begin + item < count ? cache_row(&at, rows, n, begin + item) : 0;
    for (; begin < count; begin += WG) {
        const int keys = min(WG, count - begin);
        const long at_row = next_row;
        float score = -INFINITY;
        if (begin + WG + item < count) /* read while this block is computed */
            next_row = cache_row(&at, rows, n, begin + WG + item);
        if (item < keys) {
            place[item] = (OFFSET_T)(at_row * at.v_stride);
            score = key_times_query(k + at_row * at.k_stride, queries);
            score = CAPPED(BIASED(score, &at, bias, h, begin + item, last), cap);
        }
        const float block_maximum = group_max(scratch, score);
        const float largest = block_maximum > maximum ? block_maximum : maximum;
        const float shift = largest == -INFINITY ? 0.0f : largest, alpha = softmax_exp(maximum - shift);
        const float weight = softmax_exp(score - shift);
        weights[item] = weight;
        sum = sum * alpha + group_sum(scratch, weight); /* its barriers publish weights and places */
        maximum = largest;
        for (int m = item; m < TEAMS * HEAD; m += WG) {
            const int team = TEAM_OF(m);
            mixed[m] = mix_values(v, m - team * HEAD, place, weights, team, keys, mixed[m] * alpha);
        }
        barrier(CLK_LOCAL_MEM_FENCE); /* weights and places may be overwritten */
    }
#if IS_SPLIT
    parts += parts_offset + (((long)get_group_id(2) * query_count + n) * heads + h) * PART_SIZE;
    for (int c = item; c < HEAD; c += WG)
        parts[c] = joined_mix(mixed, c);
    if (item == 0) {
        parts[PART_MAXIMUM] = maximum;
        parts[PART_SUM] = sum;
    }
#else
    const float factor = sum == 0.0f ? 0.0f : 1.0f / sum; /* no usable key: zeros */
    out += at.out_offset + n * at.out_stride + h * at.out_head_stride;
    for (int c = item; c < HEAD; c += WG)
        out[c] = joined_mix(mixed, c) * factor;
#endif
}
