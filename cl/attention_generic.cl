/* SPDX-License-Identifier: MIT */
/* Fused attention for any head size and storage type: one work-item per (query, head, chunk of output columns), online softmax key by key.
 * Chunks repeat the scores, which keeps the private memory of a work-item small whatever the head size. */
#include "types.cl"
#include "softmax_exp.cl"
#include "attention_tile.cl"

#if !defined HEAD || !defined HEAD_V || !defined CHUNK
#error "HEAD, HEAD_V: columns of q and k, of v; CHUNK: output columns per work-item"
#endif
#if !defined IN_T || !defined OUT_T
#error "IN_T, OUT_T with LOAD_IN, STORE_OUT: storage types of q, k, v and of the output"
#endif
#if !defined IS_CAUSAL || !defined HAS_KEY_MASK || !defined HAS_LENGTHS || !defined EMPTY_ROWS
#error "IS_CAUSAL, HAS_KEY_MASK, HAS_LENGTHS: 0 or 1; EMPTY_ROWS: EMPTY_ROWS_x"
#endif

/* q . k; eight products per iteration keep the number of iterations small. */
inline float dot_row(__global const IN_T *q, __global const IN_T *k)
{
    float s = 0.0f;
    int c = 0;
    for (; c + 8 <= HEAD; c += 8) {
#define ADD_PRODUCT(i) s = fma(LOAD_IN(q, c + i), LOAD_IN(k, c + i), s);
        ADD_PRODUCT(0) ADD_PRODUCT(1) ADD_PRODUCT(2) ADD_PRODUCT(3) ADD_PRODUCT(4) ADD_PRODUCT(5) ADD_PRODUCT(6) ADD_PRODUCT(7)
    }
    for (; c < HEAD; c++)
        s = fma(LOAD_IN(q, c), LOAD_IN(k, c), s);
    return s;
}

/* Work-groups: (tiles, query heads, chunks); local size: queries per tile. */
__kernel void attention_generic(
    __global const attention_tile *tiles, int heads_per_key_head, float scale,
    __global const IN_T *q, long q_offset, int q_head_stride, int q_stride,
    __global const IN_T *k, long k_offset, int k_head_stride, int k_stride,
    __global const IN_T *v, long v_offset, int v_head_stride, int v_stride,
    __global OUT_T *out, long out_offset, int out_head_stride, int out_stride,
    __global const uchar *key_mask, long key_mask_offset, int key_mask_stride,
    __global const int *lengths, long lengths_offset, int lengths_stride)
{
    const attention_tile tile = tiles[get_group_id(0)];
    const int lane = (int)get_local_id(0);
    if (lane >= tile.q_count)
        return;
    const int head = (int)get_group_id(1), key_head = head / heads_per_key_head, column = (int)get_group_id(2) * CHUNK;
    const int columns = min(CHUNK, HEAD_V - column);
    q += q_offset + (long)head * q_head_stride + (long)(tile.q_row + lane) * q_stride;
    k += k_offset + (long)key_head * k_head_stride + (long)tile.k_begin * k_stride;
    v += v_offset + (long)key_head * v_head_stride + (long)tile.k_begin * v_stride + column;
    out += out_offset + (long)head * out_head_stride + (long)(tile.q_row + lane) * out_stride + column;

    int keys = tile.k_count;
#if HAS_LENGTHS
    keys = clamp(lengths[lengths_offset + (long)tile.sequence * lengths_stride], 0, keys);
#endif
#if IS_CAUSAL
    keys = clamp(tile.q_index + lane + tile.diagonal + 1, 0, keys);
#endif
    float sums[CHUNK], maximum = -INFINITY, sum = 0.0f;
    for (int c = 0; c < columns; c++)
        sums[c] = 0.0f;
    for (int j = 0; j < keys; j++) {
#if HAS_KEY_MASK
        if (key_mask[key_mask_offset + (long)(tile.k_begin + j) * key_mask_stride] == 0)
            continue;
#endif
        const float score = scale * dot_row(q, k + (long)j * k_stride);
        if (score > maximum) { /* never for NaN, whose weight below is NaN */
            const float alpha = softmax_exp(maximum - score);
            sum *= alpha;
            for (int c = 0; c < columns; c++)
                sums[c] *= alpha;
            maximum = score;
        }
        const float weight = softmax_exp(score - (maximum == -INFINITY ? 0.0f : maximum));
        sum += weight;
        for (int c = 0; c < columns; c++)
            sums[c] = fma(weight, LOAD_IN(v, (long)j * v_stride + c), sums[c]);
    }
    for (int c = 0; c < columns; c++) {
        float value = sums[c] / sum;
        if (sum == 0.0f) { /* no usable key */
#if EMPTY_ROWS == EMPTY_ROWS_UNIFORM
            value = 0.0f;
            for (int j = 0; j < tile.k_count; j++)
                value += LOAD_IN(v, (long)j * v_stride + c);
            value /= (float)max(tile.k_count, 1);
#elif EMPTY_ROWS == EMPTY_ROWS_NAN
            value = tile.k_count == 0 ? 0.0f : NAN;
#else
            value = 0.0f;
#endif
        }
        STORE_OUT(out, c, value);
    }
}
