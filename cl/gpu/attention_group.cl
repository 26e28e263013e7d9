/* SPDX-License-Identifier: MIT */
/* Fused attention for GPUs: one work-group per (tile of queries, head). A work-item owns one query and one of SPLIT interleaved parts of
 * the keys; its query and its output row stay in registers, blocks of k and v are shared through local memory, where all queries read the
 * same element at once. The parts are merged at the end. Wide heads are divided among COLUMN_PARTS items, so that the registers suffice;
 * they add up their shares of each score in local memory. Source: Dao et al. 2022, alg. 1; the split over keys as in Dao et al. 2023
 * (Flash-Decoding). */
#include "attention_arguments.cl"

#if !defined TILE_Q || !defined SPLIT || !defined COLUMN_PARTS
#error "TILE_Q: queries per tile, a power of two; SPLIT: parts of the keys; COLUMN_PARTS: parts of the columns, which are multiples of 4 \
times as many; a work-item for each"
#endif
#ifndef KEY_BLOCK
#error "KEY_BLOCK: keys shared at a time, a multiple of SPLIT"
#endif

#define WG (TILE_Q * SPLIT * COLUMN_PARTS)
#define HEAD_PART (HEAD / COLUMN_PARTS)
#define HEAD_V_PART (HEAD_V / COLUMN_PARTS)
#define COLUMN_ITEMS 16 /* of the work-group side by side on a row of k, v or the output */
#define ROW (HEAD_V + 1) /* odd stride: rows start in different banks */
#define BLOCK_FLOATS (KEY_BLOCK * (HEAD + HEAD_V))
#define MERGE_FLOATS (TILE_Q * (ROW + 2))
#define SHARED_FLOATS (BLOCK_FLOATS > MERGE_FLOATS ? BLOCK_FLOATS : MERGE_FLOATS)

inline bool is_used(int row, int count, __global const uchar *key_mask, int key_mask_stride)
{
    if (row >= count)
        return false;
#if HAS_KEY_MASK
    return key_mask[(long)row * key_mask_stride] != 0;
#else
    return true;
#endif
}

/* Copies `count` rows of a block into local memory, COLUMN_ITEMS neighbouring items to a row; rows that no query may use become 0, so that
 * 0 times their content is 0. */
inline void load_block(__local float4 *to, __global const IN_T *from, int stride, int columns, int count,
                       __global const uchar *key_mask, int key_mask_stride, uint item)
{
    __local float *elements = (__local float *)to;
    for (int row = (int)(item / COLUMN_ITEMS); row < KEY_BLOCK; row += WG / COLUMN_ITEMS) {
        const bool use = is_used(row, count, key_mask, key_mask_stride);
        for (int column = (int)(item % COLUMN_ITEMS); column < columns; column += COLUMN_ITEMS)
            elements[row * columns + column] = use ? LOAD_IN(from, (long)row * stride + column) : 0.0f;
    }
}

/* Work-groups: (tiles, query heads). */
__kernel __attribute__((reqd_work_group_size(WG, 1, 1))) void attention_group(ATTENTION_PARAMETERS)
{
    __local float4 shared[(SHARED_FLOATS + 3) / 4];
#if COLUMN_PARTS > 1
    __local float shares[COLUMN_PARTS][KEY_BLOCK][TILE_Q]; /* of the scores */
#endif
#if HAS_BIAS
    __local float biases[KEY_BLOCK + TILE_Q]; /* of a block's keys, by distance from the tile's last query */
#endif
    __local float4 *k_block = shared, *v_block = shared + KEY_BLOCK * HEAD / 4;
    __local float *merge = (__local float *)shared;

    ATTENTION_BEGIN
    const uint item = (uint)get_local_id(0);
    const int lane = (int)(item % TILE_Q), part = (int)(item / TILE_Q % SPLIT), column_part = (int)(item / (TILE_Q * SPLIT));
    const int first_column = column_part * HEAD_V_PART;
    q += (long)min(lane, tile.q_count - 1) * q_stride;
    int usable = keys, first_usable = 0; /* of this lane; the loop bounds are the same for the whole work-group */
    int begin = 0;
#if HAS_WINDOW || HAS_BIAS
    const int place = tile.q_index + tile.diagonal; /* of the tile's first query among the keys */
#endif
#if IS_CAUSAL
    usable = clamp(tile.q_index + lane + tile.diagonal + 1, 0, keys);
    keys = clamp(tile.q_index + tile.q_count + tile.diagonal, 0, keys);
#endif
#if HAS_WINDOW
    begin = max(0, window_begin(place, window));
    first_usable = max(0, window_begin(place + lane, window));
    usable = min(usable, window_end(place + lane, window));
    keys = min(keys, window_end(place + tile.q_count - 1, window));
#endif

#if HAS_KEEP
    const int keep_bit = (tile.q_index + lane) % KEEP_QUERIES; /* a tile never crosses a block */
    __global const uint *words = keep_words(keep + keep_offset, &keep_step, tile.sequence, head, tile.q_index);
#endif

    float4 query[HEAD_PART / 4], result[HEAD_V_PART / 4];
    float maximum = -INFINITY, sum = 0.0f;
    q += column_part * HEAD_PART;
#pragma unroll
    for (int c = 0; c < HEAD_PART / 4; c++)
        query[c] = scale * (float4)(LOAD_IN(q, 4 * c), LOAD_IN(q, 4 * c + 1), LOAD_IN(q, 4 * c + 2), LOAD_IN(q, 4 * c + 3));
#pragma unroll
    for (int c = 0; c < HEAD_V_PART / 4; c++)
        result[c] = (float4)(0.0f);

    for (int first = begin; first < keys; first += KEY_BLOCK) {
        const int count = min(KEY_BLOCK, keys - first);
        __global const uchar *block_mask = key_mask + (long)first * key_mask_stride;
        load_block(k_block, k + (long)first * k_stride, k_stride, HEAD, count, block_mask, key_mask_stride, item);
        load_block(v_block, v + (long)first * v_stride, v_stride, HEAD_V, count, block_mask, key_mask_stride, item);
#if HAS_BIAS
        for (int i = (int)item; i < KEY_BLOCK + TILE_Q; i += WG)
            biases[i] = bias[bias_column(first + i - (TILE_Q - 1), place, bias_reach)];
#endif
        barrier(CLK_LOCAL_MEM_FENCE);

#if COLUMN_PARTS > 1
#pragma unroll 1 /* the registers of several keys at once are not there */
        for (int key = part; key < KEY_BLOCK; key += SPLIT) {
            float4 products = (float4)(0.0f);
#pragma unroll
            for (int c = 0; c < HEAD_PART / 4; c++)
                products = fma(query[c], k_block[(key * COLUMN_PARTS + column_part) * (HEAD_PART / 4) + c], products);
            shares[column_part][key][lane] = dot(products, (float4)(1.0f));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#endif

        /* Key by key, so that no more than the query, the output row and a score live in registers. The maximum rises seldom after the
         * first keys. */
#pragma unroll 1
        for (int key = part; key < KEY_BLOCK; key += SPLIT) {
            if (!is_used(first + key, usable, key_mask, key_mask_stride))
                continue;
#if HAS_WINDOW
            if (first + key < first_usable)
                continue;
#endif
#if HAS_KEEP
            if ((words[first + key] >> keep_bit & 1u) == 0)
                continue;
#endif
#if COLUMN_PARTS > 1
            float score = shares[0][key][lane];
            for (int share = 1; share < COLUMN_PARTS; share++)
                score += shares[share][key][lane];
#else
            float4 products = (float4)(0.0f);
#pragma unroll
            for (int c = 0; c < HEAD / 4; c++)
                products = fma(query[c], k_block[key * (HEAD / 4) + c], products);
            float score = dot(products, (float4)(1.0f));
#endif
#if HAS_BIAS
            score += biases[key + TILE_Q - 1 - lane];
#endif
            if (score > maximum) { /* never for NaN, whose weight below is NaN */
                const float alpha = softmax_exp(maximum - score);
                maximum = score;
                sum *= alpha;
#pragma unroll
                for (int c = 0; c < HEAD_V_PART / 4; c++)
                    result[c] *= alpha;
            }
            const float weight = softmax_exp(score - (maximum == -INFINITY ? 0.0f : maximum));
            sum += weight;
#pragma unroll
            for (int c = 0; c < HEAD_V_PART / 4; c++)
                result[c] = fma((float4)(weight), v_block[(key * COLUMN_PARTS + column_part) * (HEAD_V_PART / 4) + c], result[c]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    /* Part 0 takes in the others, one after the other: rows of HEAD_V sums, then the maximum and the sum of weights. */
    for (int from = 1; from < SPLIT; from++) {
        __local float *row = merge + lane * (ROW + 2), *columns = row + first_column;
        if (part == from) {
#pragma unroll
            for (int c = 0; c < HEAD_V_PART / 4; c++) {
                columns[4 * c] = result[c].x;
                columns[4 * c + 1] = result[c].y;
                columns[4 * c + 2] = result[c].z;
                columns[4 * c + 3] = result[c].w;
            }
            if (column_part == 0) { /* the same in all of them */
                row[HEAD_V] = maximum;
                row[HEAD_V + 1] = sum;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (part == 0) {
            const float other = row[HEAD_V], largest = other > maximum ? other : maximum;
            const float shift = largest == -INFINITY ? 0.0f : largest;
            const float alpha = softmax_exp(maximum - shift), beta = softmax_exp(other - shift);
            maximum = largest;
            sum = fma(row[HEAD_V + 1], beta, sum * alpha);
#pragma unroll
            for (int c = 0; c < HEAD_V_PART / 4; c++)
                result[c] = fma((float4)(columns[4 * c], columns[4 * c + 1], columns[4 * c + 2], columns[4 * c + 3]), (float4)(beta),
                                result[c] * alpha);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    /* Through local memory, so that neighbouring items write neighbouring columns. */
    if (part == 0) {
        usable_keys used = {first_usable, usable, key_mask, key_mask_stride, keep, 0};
#if HAS_BIAS
        used.bias = bias;
        used.place = place + lane;
        used.reach = bias_reach;
#endif
#if HAS_KEEP
        used.words = words;
        used.bit = keep_bit;
#endif
        float factor = sum == 0.0f ? 0.0f : 1.0f / sum;
#if EMPTY_ROWS == EMPTY_ROWS_NAN
        if (sum == 0.0f && tile.k_count > 0)
            factor = NAN;
#endif
#pragma unroll
        for (int c = 0; c < HEAD_V_PART / 4; c++) {
            __local float *columns = merge + lane * ROW + first_column + 4 * c;
            columns[0] = result[c].x * factor;
            columns[1] = result[c].y * factor;
            columns[2] = result[c].z * factor;
            columns[3] = result[c].w * factor;
            if (any(isinf(result[c])))
                for (int i = 0; i < 4; i++)
                    columns[i] = settle_infinity(columns[i], maximum, scale, q - column_part * HEAD_PART, k, k_stride,
                                                 v + first_column + 4 * c + i, v_stride, &used);
        }
#if EMPTY_ROWS == EMPTY_ROWS_UNIFORM
        if (sum == 0.0f && tile.k_count > 0) {
            for (int c = first_column; c < first_column + HEAD_V_PART; c++) {
                float mean = 0.0f;
                for (int j = 0; j < tile.k_count; j++)
                    mean += LOAD_IN(v, (long)j * v_stride + c);
                merge[lane * ROW + c] = mean / (float)tile.k_count;
            }
        }
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int row = (int)(item / COLUMN_ITEMS); row < tile.q_count; row += WG / COLUMN_ITEMS)
        for (int column = (int)(item % COLUMN_ITEMS); column < HEAD_V; column += COLUMN_ITEMS)
            STORE_OUT(out, (long)row * out_stride + column, merge[row * ROW + column]);
}
