/* SPDX-License-Identifier: MIT */
/* Steps of a search: scores become sorted lists of keys, and sorted lists are merged by rank. No step needs local memory or a barrier. */
#include "score_key.cl"

#ifndef RUN
#error "RUN: keys that a work-item sorts by itself"
#endif

/* Clamps scores[i], which are cosines, to -1 .. 1: rounding takes them beyond. NaN stays. */
__kernel void search_bound(long count, __global float *scores, long offset)
{
    const long i = get_global_id(0);
    if (i >= count)
        return;
    const float score = scores[offset + i];
    if (score > 1.0f || score < -1.0f)
        scores[offset + i] = score > 0.0f ? 1.0f : -1.0f;
}

/* keys[q][i] of scores[q][i], the best ones of a block, where indices[q][i] + base is the column of that score. */
__kernel void search_keys(long columns, __global const float *scores, long scores_offset, __global const int *indices, long indices_offset,
                          long base, __global ulong *keys, long keys_offset)
{
    const long i = get_global_id(0), q = get_global_id(1);
    if (i >= columns)
        return;
    const long at = q * columns + i;
    keys[keys_offset + at] = key_of(scores[scores_offset + at], base + indices[indices_offset + at]);
}

/* keys[q] = the keys of all scores[q], in falling order within each run of RUN columns. */
__kernel void search_runs(long columns, __global const float *scores, long scores_offset, long base, __global ulong *keys, long keys_offset)
{
    const long first = (long)get_global_id(0) * RUN, q = get_global_id(1);
    if (first >= columns)
        return;
    const int size = (int)min((long)RUN, columns - first);
    __global ulong *run = keys + keys_offset + q * columns + first;
    scores += scores_offset + q * columns + first;
    for (int i = 0; i < size; i++) {
        const ulong key = key_of(scores[i], base + first + i);
        int at = i;
        for (; at > 0 && run[at - 1] < key; at--)
            run[at] = run[at - 1];
        run[at] = key;
    }
}

/* How many of list[0 .. size), in falling order, are larger than the key. */
static inline long count_larger(__global const ulong *list, long size, ulong key)
{
    long low = 0, high = size;
    while (low < high) {
        const long middle = low + (high - low) / 2;
        if (list[middle] > key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Merges list a and list b of pair p of row q, both in falling order, into out and keeps the first out_size keys. A list begins at
 * q * row + p * pair and has at most `size` keys; the last one of a row ends with the row's `total` keys. No key is in both lists. Each
 * work-item places one key; its rank is its index in its own list plus the number of larger keys in the other. */
__kernel void search_merge(__global const ulong *a, long a_offset, long a_row, long a_size, long a_total, __global const ulong *b,
                           long b_offset, long b_row, long b_size, long b_total, long pair, __global ulong *out, long out_offset,
                           long out_row, long out_size)
{
    const long i = get_global_id(0), p = get_global_id(1), q = get_global_id(2);
    const long a_left = min(a_size, a_total - p * pair), b_left = min(b_size, b_total - p * pair);
    a += a_offset + q * a_row + p * pair;
    b += b_offset + q * b_row + p * pair;
    const bool is_a = i < a_size;
    const long own = is_a ? i : i - a_size;
    if (own >= (is_a ? a_left : b_left))
        return;
    const ulong key = is_a ? a[own] : b[own];
    const long rank = own + (is_a ? count_larger(b, max(b_left, 0L), key) : count_larger(a, max(a_left, 0L), key));
    if (rank < out_size)
        out[out_offset + q * out_row + p * pair + rank] = key;
}

/* The scores and indices of keys. */
__kernel void search_result(long columns, __global const ulong *keys, long keys_offset, long keys_row, __global float *scores,
                            long scores_offset, __global int *indices, long indices_offset)
{
    const long i = get_global_id(0), q = get_global_id(1);
    if (i >= columns)
        return;
    const ulong key = keys[keys_offset + q * keys_row + i];
    scores[scores_offset + q * columns + i] = score_of(key);
    indices[indices_offset + q * columns + i] = index_of(key);
}
