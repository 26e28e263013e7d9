/* SPDX-License-Identifier: MIT */
/* Fused attention for any head size and storage type, also with windows and biases by distance. One work-item per (query, head, chunk of
 * output columns) computes an online softmax key by key. Each chunk computes the scores again, so that a work-item needs little private
 * memory whatever the head size. */
#include "attention_arguments.cl"
#include "item.cl"

#if !defined CHUNK || !defined QUERIES
#error "CHUNK: output columns per work-item; QUERIES: of a tile"
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
__kernel __attribute__((reqd_work_group_size(QUERIES, 1, 1))) void attention_generic(ITEM_PARAMETERS ATTENTION_PARAMETERS)
{
    ATTENTION_BEGIN(get_global_id(0) / QUERIES)
    const int lane = (int)get_global_id(0) % QUERIES, column = (int)get_group_id(2) * CHUNK;
    if (lane >= tile.q_count)
        return;
    const int columns = min(CHUNK, HEAD_V - column);
    q += (long)lane * q_stride;
    v += column;
    out += (long)lane * out_stride + column;
#if IS_CAUSAL
    keys = clamp(tile.q_index + lane + tile.diagonal + 1, 0, keys);
#endif
#if HAS_KEEP
    const int query = tile.q_index + lane;
    __global const uint *words = keep_words(keep + keep_offset, &keep_step, tile.sequence, head, query);
#endif
    const int place = tile.q_index + lane + tile.diagonal; /* position of the query among the keys */
    int first = 0;
#if HAS_WINDOW
    first = max(0, window_begin(place, window));
    keys = min(keys, window_end(place, window));
#endif
    float sums[CHUNK], maximum = -INFINITY, sum = 0.0f;
    for (int c = 0; c < columns; c++)
        sums[c] = 0.0f;
    for (int j = first; j < keys; j++) {
#if HAS_KEY_MASK
        if (key_mask[(long)j * key_mask_stride] == 0)
            continue;
#endif
#if HAS_KEEP
        if ((words[j] >> query % KEEP_QUERIES & 1u) == 0)
            continue;
#endif
        float score = scale * dot_row(q, k + (long)j * k_stride);
#if HAS_BIAS
        score += bias[bias_column(j, place, bias_reach)];
#endif
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
    usable_keys usable = {first, keys, key_mask, key_mask_stride, keep, 0};
#if HAS_BIAS
    usable.bias = bias;
    usable.place = place;
    usable.reach = bias_reach;
#endif
#if HAS_KEEP
    usable.words = words;
    usable.bit = query % KEEP_QUERIES;
#endif
    for (int c = 0; c < columns; c++) {
        float value = settle_infinity(sums[c] / sum, maximum, scale, q, k, k_stride, v + c, v_stride, &usable);
        if (sum == 0.0f) { /* no usable key: the sums are 0, or NaN where kept scores of -inf meet values that are not finite */
#if EMPTY_ROWS == EMPTY_ROWS_UNIFORM
            value = 0.0f;
            for (int j = 0; j < tile.k_count; j++)
                value += LOAD_IN(v, (long)j * v_stride + c);
            value /= (float)max(tile.k_count, 1);
#elif EMPTY_ROWS == EMPTY_ROWS_NAN
            value = tile.k_count == 0 ? 0.0f : NAN;
#else
            value = sums[c];
#endif
        }
        STORE_OUT(out, c, value);
    }
}
