/* SPDX-License-Identifier: MIT */
/* Fused attention for GPUs: what a work-group does with a block of keys. Scores, their weights, and weights times values. */
#include "attention_group_tile.cl"

/* Exponentials of differences from a maximum. The difference comes first: fma(x, LOG2_E, -LOG2_E * maximum) would be one operation less,
 * but at the maximum itself it is the rounding of the product, which for huge scores is anything but 0. */
#if HAS_NATIVE_EXP2
#define LOG2_E 1.44269504f
#define EXP(x) native_exp2((x) * LOG2_E)
#define EXP4(x) native_exp2((x) * LOG2_E)
#else
DEFINE_SOFTMAX_EXP(softmax_exp4, float4, int4, as_int4, as_float4)
#define EXP(x) softmax_exp(x)
#define EXP4(x) softmax_exp4(x)
#endif

/* Four neighbours of a row. */
inline float4 fetch(__global const IN_T *from)
{
#if IS_ALIGNED
    return *(__global const float4 *)from;
#else
    return PASTE(vector_, LOAD_IN)(from);
#endif
}

/* Columns of a slice (from points to the first) of `lines` rows, transposed: four lines of local memory for four columns; beyond `columns`
 * there are zeros. Two neighbouring items read 32 bytes of a row and write to banks that differ. */
inline void load_slice(__local float *to, uint pitch, uint lines, bool are_keys, __global const IN_T *from, uint stride, uint last_line,
                       uint columns, float factor, uint item)
{
#pragma unroll 1
    for (uint line = item / 2; line < lines; line += WG / 2) {
        const uint at = min(line, last_line) * stride + item % 2 * 4;
        __local float *const place = to + item % 2 * 4 * pitch + (are_keys ? KEY_PLACE(line) : line);
#pragma unroll
        for (uint depth = 0; depth < SLICE; depth += 8) {
            float4 v = (float4)(0.0f);
            if (HEAD % SLICE == 0 || item % 2 * 4 + depth < columns)
                v = fetch(from + at + depth) * factor;
            place[depth * pitch] = v.x;
            place[(depth + 1) * pitch] = v.y;
            place[(depth + 2) * pitch] = v.z;
            place[(depth + 3) * pitch] = v.w;
        }
    }
}

/* Adds the products of a slice's columns to the scores. */
#define READ_QUERIES(unused, d, r) const float4 q##r = shared[(depth + d) * (PITCH_Q / 4) + OF_ROW(r)];
#define READ_KEYS(v) const float4 k##v = shared[K_SLICE + at_depth * (PITCH_K / 4) + v * ITEMS_K + own->x];
#define MULTIPLY_SCORE(v, j, r) SCORE(v, j, r) = k##v.s##j * q##r + SCORE(v, j, r);
#define MULTIPLY_DEPTH(d)                    \
    {                                        \
        const uint at_depth = depth + d;     \
        EACH_ROW(READ_QUERIES, , d)          \
        EACH_KEY_VECTOR(READ_KEYS)           \
        EACH_SCORE(MULTIPLY_SCORE)           \
    }
IN_KERNEL void multiply_slice(group_item *own, __local const float4 *shared)
{
#pragma unroll 1
    for (uint depth = 0; depth < SLICE; depth += STEP) {
        EACH_OF_STEP(MULTIPLY_DEPTH)
    }
}

/* Scores of the tile with the block of keys from `first` on. Rows beyond the last query and key repeat it; such keys are masked and such
 * queries never stored. */
#define CLEAR_SCORE(v, j, r) SCORE(v, j, r) = (float4)(0.0f);
IN_KERNEL void multiply_keys(const group_tile *tile, int first, group_item *own, __local float4 *shared)
{
    EACH_SCORE(CLEAR_SCORE)
#pragma unroll 1
    for (int column = 0; column < HEAD; column += SLICE) {
        load_slice((__local float *)shared, PITCH_Q, TILE, false, tile->q + column, (uint)tile->q_stride, (uint)(tile->rows - 1),
                   (uint)(HEAD - column), tile->scale, own->item);
        load_slice((__local float *)(shared + K_SLICE), PITCH_K, KEY_BLOCK, true, tile->k + (long)first * tile->k_stride + column,
                   (uint)tile->k_stride, (uint)(tile->end - 1 - first), (uint)(HEAD - column), 1.0f, own->item);
        barrier(CLK_LOCAL_MEM_FENCE);
        multiply_slice(own, shared);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Biases of all distances between a query of the tile and a key of the block, side by side. */
IN_KERNEL void load_biases(const group_tile *tile, int first, uint item, __local float *to)
{
    for (uint i = item; i < KEY_BLOCK + TILE; i += WG)
        to[i] = tile->bias[bias_column(first + (int)i - (TILE - 1), tile->place, tile->bias_reach)];
}

/* Four queries and four keys have seven distances. Component by component: Oclgrind crashes at joined vectors of other lengths. */
#if HAS_BIAS
#define ADD_BIAS(v, r)                                                                                          \
    {                                                                                                           \
        const uint from = BIASES + (KEY(v) + TILE - 4 - QUERY(r)) / 4;                                          \
        const float4 low = shared[from], high = shared[from + 1];                                               \
        SCORE(v, 0, r) += low.wzyx;                                                                             \
        SCORE(v, 1, r) += (float4)(high.x, low.w, low.z, low.y);                                                \
        SCORE(v, 2, r) += (float4)(high.y, high.x, low.w, low.z);                                               \
        SCORE(v, 3, r) += (float4)(high.z, high.y, high.x, low.w);                                              \
    }
#else
#define ADD_BIAS(v, r)
#endif
#define KEPT(key, r) kept_queries(used[QUERY(r) / 32 * KEY_BLOCK + (key)] >> QUERY(r) % 32)
#define MASK_SCORE(v, j, r) SCORE(v, j, r) = KEPT(KEY(v) + j, r) ? SCORE(v, j, r) : (float4)(-INFINITY);
#define ADD_BIAS_AND_MASK(v, r) ADD_BIAS(v, r) FOUR_OF_ROW(MASK_SCORE, v, r)
/* All of a row before the next: were every bias added first, AMD's compiler would test every mask before them and spill the outcomes. */
IN_KERNEL void add_bias_and_mask(bool is_mixed, group_item *own, __local const float4 *shared)
{
    __local const uint *const used = (__local const uint *)(shared + USED);
    if (is_mixed) {
        EACH_ROW(EACH_KEY_VECTOR_OF_ROW, ADD_BIAS_AND_MASK, )
    } else {
        EACH_ROW(EACH_KEY_VECTOR_OF_ROW, ADD_BIAS, )
    }
}

/* Maxima of an item's scores, for the others: fmax passes over a NaN, whose weight later is NaN. */
#define DECLARE_TOP(a, b, r) float4 top##r = SCORE(0, 0, r);
#define RAISE_TOP(v, j, r) top##r = fmax(top##r, SCORE(v, j, r));
#define PUT_TOP(a, b, r) shared[TOPS + OF_ITEM(r)] = top##r;
IN_KERNEL void put_maxima(const group_item *own, __local float4 *shared)
{
    EACH_ROW(DECLARE_TOP, , )
    EACH_SCORE(RAISE_TOP)
    EACH_ROW(PUT_TOP, , )
}

/* Raises the maximum of a row, by the item of its number, and sets the shift of the row's scores and the factor of its sums so far. */
IN_KERNEL void raise_maximum(group_item *own, __local float *floats)
{
    float top = own->maximum;
    for (uint i = 0; i < ITEMS_K; i++)
        top = fmax(top, floats[4 * TOPS + i * TILE + own->item]);
    const float shift = top == -INFINITY ? 0.0f : top;
    floats[4 * SHIFTS + own->item] = shift;
    floats[4 * FACTORS + own->item] = EXP(own->maximum - shift);
    own->maximum = top;
}

/* Scores become weights, which are added to the sums of rows; results so far are multiplied by what the new maximum makes of them. */
#define RESCALE_ROW(a, b, r)                                                                       \
    const float4 alpha##r = shared[FACTORS + OF_ROW(r)], shift##r = shared[SHIFTS + OF_ROW(r)];    \
    float4 sum##r = shared[SUMS + OF_ITEM(r)] * alpha##r;                                          \
    EACH_RESULT_OF_ROW(RESCALE, r)
#define RESCALE(c, i, r) RESULT(c, i, r) *= alpha##r;
#define WEIGH(v, j, r)                                          \
    SCORE(v, j, r) = EXP4(SCORE(v, j, r) - shift##r);           \
    sum##r += SCORE(v, j, r);
#define PUT_SUM(a, b, r) shared[SUMS + OF_ITEM(r)] = sum##r;
IN_KERNEL void weigh_scores(group_item *own, __local float4 *shared)
{
    put_maxima(own, shared);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own->item < TILE)
        raise_maximum(own, (__local float *)shared);
    barrier(CLK_LOCAL_MEM_FENCE);
    EACH_ROW(RESCALE_ROW, , )
    EACH_SCORE(WEIGH)
    EACH_ROW(PUT_SUM, , )
}

/* Values of a part's keys, from key `part` of the block on. Rows of v that no query may use are 0, so that 0 times their content is 0. */
#define LOAD_VALUES(c)                                                                                       \
    {                                                                                                        \
        const uint column = c * 4 * ITEMS_C + own->item % ITEMS_C * 4;                                       \
        float4 v4 = (float4)(0.0f);                                                                          \
        if (WIDE == HEAD_V || column < HEAD_V)                                                               \
            v4 = fetch(from + (row * (uint)tile->v_stride + column));                                        \
        shared[VALUES + key * (WIDE / 4) + c * ITEMS_C + own->item % ITEMS_C] = is_used ? v4 : (float4)(0.0f); \
    }
IN_KERNEL void load_values(const group_tile *tile, int first, uint part, bool is_mixed, const group_item *own, __local float4 *shared)
{
    __local const uint *const used = (__local const uint *)(shared + USED) + part;
    __global const IN_T *const from = tile->v + (long)first * tile->v_stride;
#pragma unroll 1
    for (uint key = own->item / ITEMS_C; key < PART_KEYS; key += WG / ITEMS_C) {
        const uint row = min(part + key, (uint)(tile->end - 1 - first));
        const bool is_used = !is_mixed || (used[key] | used[(WORDS - 1) * KEY_BLOCK + key]) != 0;
        EACH_COLUMN_VECTOR(LOAD_VALUES)
    }
}

/* Adds the products of a part's weights and values to the results. */
#define READ_WEIGHTS(unused, d, r) const float4 p##r = weights_at[d * (PITCH_Q / 4) + r * ITEMS_Q];
#define READ_VALUES(c) const float4 v##c = values_at[depth * (WIDE / 4) + c * ITEMS_C];
#define MULTIPLY_RESULT(c, i, r) RESULT(c, i, r) = v##c.s##i * p##r + RESULT(c, i, r);
#define MULTIPLY_KEY(d)                      \
    {                                        \
        const uint depth = d;                \
        EACH_ROW(READ_WEIGHTS, , d)          \
        EACH_COLUMN_VECTOR(READ_VALUES)      \
        EACH_RESULT(MULTIPLY_RESULT)         \
    }
IN_KERNEL void multiply_part(group_item *own, __local const float4 *shared)
{
    const uint own_key = own->half_of_keys * (PART_KEYS / KEY_HALVES);
    __local const float4 *weights_at = shared + own_key * (PITCH_Q / 4) + own->y;
    __local const float4 *values_at = shared + VALUES + own_key * (WIDE / 4) + own->column_item;
#pragma unroll 1
    for (uint key = 0; key < PART_KEYS / KEY_HALVES; key += STEP) {
        EACH_OF_STEP(MULTIPLY_KEY)
        weights_at += STEP * (PITCH_Q / 4);
        values_at += STEP * (WIDE / 4);
    }
}

/* Weights of the block of keys times their values. */
#define PUT_WEIGHT(v, j, r) weights_to[(4 * v + j) * (PITCH_Q / 4) + r * ITEMS_Q] = SCORE(v, j, r);
IN_KERNEL void multiply_values(const group_tile *tile, int first, bool is_mixed, group_item *own, __local float4 *shared)
{
#pragma unroll 1
    for (uint part = 0; part < (uint)min(KEY_BLOCK, tile->end - first); part += PART_KEYS) {
        if (KEY(0) - part < PART_KEYS) { /* those of an item are in one part */
            __local float4 *const weights_to = shared + (KEY(0) - part) * (PITCH_Q / 4) + own->y;
            EACH_SCORE(PUT_WEIGHT)
        }
        load_values(tile, first, part, is_mixed, own, shared);
        barrier(CLK_LOCAL_MEM_FENCE);
        multiply_part(own, shared);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
