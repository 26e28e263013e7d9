/* SPDX-License-Identifier: MIT */
/* Fused attention on a matrix unit (matrix_unit.cl). A work-group of WAVES_M x WAVES_N waves has 16 WAVES_M queries of a head and goes
 * through the keys in blocks of KEY_BLOCK. The unit multiplies both products: scores = Q K^T, whose keys WAVES_N waves divide among them,
 * and results += P V, whose columns they divide. Row maxima, exponentials and sums are float32.
 *
 * - NUMBERS: how many 16-bit numbers represent an element of q, k, v and of the weights by their sum: 1 (rounded) or 2. The product of
 *   two second numbers is left out. A query or key that is infinite as 16 bits makes its row NaN.
 * - Scores go through local memory: the arithmetic of the softmax then does not depend on the unit's layout. An item has ROWS rows and
 *   one of SHARES parts of their keys.
 * - The unit's sums of PART_KEYS keys join the results by ordinary additions: units that round toward zero drift in long sums.
 * - Masked scores are -INFINITY. Values of keys that no query may use are 0. Other masked values may spoil a result, which is corrected
 *   at the end.
 * Source: Dao 2023 (FlashAttention-2), alg. 1. */
#include "attention_queries.cl"
#include "matrix_slice.cl"

#if !defined WAVES_M || !defined WAVES_N || !defined NUMBERS || !defined KEY_BLOCK || !defined PART_KEYS || !defined SLICE || !defined READS
#error "WAVES_M, WAVES_N: 1 or more; NUMBERS: 1 or 2; KEY_BLOCK, PART_KEYS: keys, SLICE: columns of q and k at a time, by 16; \
READS: how rows of q and k are read (wide_loads.cl)"
#endif

#define TILE (16 * WAVES_M)
#define GROUP (WAVES_M * WAVES_N * LANES)
#define SCORE_BLOCKS (KEY_BLOCK / 16 / WAVES_N) /* blocks of scores of a wave */
#define COLUMN_BLOCKS ((HEAD_V + 16 * WAVES_N - 1) / (16 * WAVES_N))
#define WIDE (16 * WAVES_N * COLUMN_BLOCKS)            /* columns of v, padded to whole blocks */
#define DEEP ((HEAD + SLICE - 1) / SLICE * SLICE)      /* columns of q, padded to whole slices */
#define HAS_REST_SUMS (IS_F16 && NUMBERS == 2) /* products with a second part are scaled, so that they need sums of their own */
#if HAS_REST_SUMS
#define REST_OF(s) PASTE(rest_, s)
#define WHOLE_SUM(s, rest, v) ((s).values[v] + (rest).values[v] * (1.0f / REST_SCALE))
#else
#define REST_OF(s) s
#define WHOLE_SUM(s, rest, v) ((s).values[v])
#endif

/* Own rows of an item: row_of(line, i). */
#define LINES (EIGHT_LINES < LANES ? EIGHT_LINES : LANES)
#define ROWS (16 / LINES)
#define SHARES (WAVES_N * LANES / LINES)
#define SHARE (KEY_BLOCK / SHARES)

#if KEY_BLOCK % (16 * WAVES_N) || KEY_BLOCK % PART_KEYS || PART_KEYS % 16 || SLICE % 16 || KEY_BLOCK % (SHARES * 4 * (1 + SECOND_T))
#error "KEY_BLOCK: whole blocks and eights for every wave and item; PART_KEYS: divides it"
#endif

/* Offsets in local memory, in words. It holds all of q, a slice of k or v, scores with padding that spreads rows over the banks, and
 * weights. Then for each row it holds a maximum or sum of every share (FOUND), and a factor for the results. */
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define SLICE_WORDS(lines, depth) (NUMBERS * (lines) * (depth) / 2)
#define PITCH (KEY_BLOCK + 4)
#define OPERAND SLICE_WORDS(TILE, DEEP)
#define SCORES (OPERAND + LARGER(SLICE_WORDS(KEY_BLOCK, SLICE), SLICE_WORDS(WIDE, PART_KEYS)))
#define WEIGHTS (SCORES + TILE * PITCH)
#define FOUND (WEIGHTS + SLICE_WORDS(TILE, KEY_BLOCK))
#define FACTORS (FOUND + SHARES * TILE)
#define LOCAL_WORDS (FACTORS + TILE)

/* Address of a block of a slice. */
#define BLOCK_OF(slice, lines, depth, number, k_block, line_block) \
    ((slice) + SLICE_WORDS(lines, depth) / NUMBERS * (number) + ((k_block) * ((lines) / 16) + (line_block)) * BLOCK)

DEFINE_FETCH(fetch_row, IN_T, LOAD_IN, READS, SLICE)
DEFINE_FETCH(fetch_column, IN_T, LOAD_IN, ELEMENTS, PART_KEYS)

static inline uint row_of(uint line, uint i)
{
    return line / LINES * 16 + line % LINES + i * LINES;
}

static inline void clear(sums *s)
{
    UNROLL for (int v = 0; v < PARTS; v++)
        s->parts[v] = 0.0f;
}

/* Adds the product of two fragments: the product of their first numbers to `sum`, those of a first and a second number to `rest`. */
static inline void multiply_numbers(wave w, sums *sum, sums *rest, const fragment *a, const fragment *b)
{
#if NUMBERS == 2
    multiply_add(w, rest, a[0], b[1]);
    multiply_add(w, rest, a[1], b[0]);
#endif
    multiply_add(w, sum, a[0], b[0]);
}

/* Applies bias and masks to four scores, and raises *top to the largest. */
static inline float4 masked(float4 scores, int key, bool is_mixed, const usable_keys *usable, float *top)
{
    float s[4];
    vstore4(scores, 0, s);
    for (int e = 0; e < 4; e++) {
#if HAS_BIAS
        s[e] += usable->bias[bias_column(key + e, usable->place, usable->reach)];
#endif
        if (is_mixed && !(key + e >= usable->first && key + e < usable->end && is_usable(usable, key + e)))
            s[e] = -INFINITY;
        *top = fmax(*top, s[e]); /* ignores a NaN, whose weight is NaN later */
    }
    return vload4(0, s);
}

/* The weights of four scores, whose sum is added to *sum. */
static inline float4 weighed(__local const float *scores, float shift, float *sum)
{
    const float4 w = EXP4(*(__local const float4 *)scores - shift);
    *sum += w.x + w.y + w.z + w.w;
    return w;
}

/* Four values of a column, with 0 for masked keys. Values from key `end` on are 0 already. */
static inline float4 used_values(float4 values, int key, int end, __global const uchar *key_mask, int key_mask_stride)
{
#if HAS_KEY_MASK
#define IS_MASKED(e) (key + (e) < end && key_mask[(long)(key + (e)) * key_mask_stride] == 0)
    values.x = IS_MASKED(0) ? 0.0f : values.x;
    values.y = IS_MASKED(1) ? 0.0f : values.y;
    values.z = IS_MASKED(2) ? 0.0f : values.z;
    values.w = IS_MASKED(3) ? 0.0f : values.w;
#endif
    return values;
}

/* Work-groups: (tiles times TILE_PARTS, query heads). */
__kernel WAVE_ATTRIBUTE __attribute__((reqd_work_group_size(GROUP, 1, 1))) void attention_matrix(ATTENTION_PARAMETERS)
{
    __local uint4 shared[LOCAL_WORDS / 4];
    WAVE_OF_ITEM(w, WAVES_M * WAVES_N)
    __local uint *const queries = (__local uint *)shared, *const operand = queries + OPERAND, *const weights = queries + WEIGHTS;
    __local float *const scores = (__local float *)(queries + SCORES), *const found = (__local float *)(queries + FOUND);
    __local float *const factors = (__local float *)(queries + FACTORS);

    ATTENTION_BEGIN_QUERIES(TILE)
    const uint item = (uint)get_local_id(0), wave_m = w.index % WAVES_M, wave_n = w.index / WAVES_M;
    const uint line = item % (WAVES_M * LINES), share = item / (WAVES_M * LINES);

    /* Rows beyond the last query repeat it; they are never stored. */
    for (uint at = item; at < TILE * DEEP / 8; at += GROUP) {
        const uint row = eight_line(at, TILE, DEEP, true), t = eight_t(at, TILE, DEEP, true), last = (uint)max(rows - 1, 0);
#define FETCH_Q(second)                                                                        \
    (fetch_row(group.q + (t + (second) * SECOND_T) * 4, row + (second) * SECOND_LINE, 0, last, \
               HEAD % SLICE ? HEAD - (int)(t + (second) * SECOND_T) * 4 : SLICE, (uint)q_stride, 1) * scale)
        put_a(queries, TILE, DEEP, NUMBERS, row, t, FETCH_Q(0), FETCH_Q(1));
    }

    sums result[COLUMN_BLOCKS];
    UNROLL for (int j = 0; j < COLUMN_BLOCKS; j++)
        UNROLL for (int v = 0; v < PARTS; v++)
            result[j].parts[v] = 0.0f;
    float maximum[ROWS], shift[ROWS], total[ROWS];
    for (int i = 0; i < ROWS; i++) {
        maximum[i] = -INFINITY;
        shift[i] = total[i] = 0.0f;
    }

    for (int first = group.range.begin; first < group.range.end; first += KEY_BLOCK) {
        const bool is_mixed = HAS_KEY_MASK || HAS_KEEP || first < group.range.all_begin || group.range.all_end - first < KEY_BLOCK;
        const uint last_key = (uint)(group.range.end - 1 - first);
        sums score[SCORE_BLOCKS];
        UNROLL for (int j = 0; j < SCORE_BLOCKS; j++)
            clear(&score[j]);
#if HAS_REST_SUMS
        sums rest_score[SCORE_BLOCKS];
        UNROLL for (int j = 0; j < SCORE_BLOCKS; j++)
            clear(&rest_score[j]);
#endif
#pragma unroll 1
        for (int column = 0; column < HEAD; column += SLICE) {
            __global const IN_T *const k_slice = k + (long)first * k_stride + column;
            for (uint at = item; at < KEY_BLOCK * SLICE / 8; at += GROUP) {
                const uint key = eight_line(at, KEY_BLOCK, SLICE, true), t = eight_t(at, KEY_BLOCK, SLICE, true);
#define FETCH_K(second)                                                                                           \
    fetch_row(k_slice, key + (second) * SECOND_LINE, (t + (second) * SECOND_T) * 4, last_key,                     \
              HEAD % SLICE ? HEAD - column : SLICE, (uint)k_stride, 1)
                put_b(operand, KEY_BLOCK, SLICE, NUMBERS, key, t, FETCH_K(0), FETCH_K(1));
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            UNROLL for (int depth = 0; depth < SLICE / 16; depth++)
            {
                fragment a[NUMBERS], b[NUMBERS];
                UNROLL for (int i = 0; i < NUMBERS; i++)
                    a[i] = load_a_local(BLOCK_OF(queries, TILE, DEEP, i, column / 16 + depth, wave_m), w.lane);
                UNROLL for (int j = 0; j < SCORE_BLOCKS; j++)
                {
                    UNROLL for (int i = 0; i < NUMBERS; i++)
                        b[i] = load_b_local(BLOCK_OF(operand, KEY_BLOCK, SLICE, i, depth, wave_n * SCORE_BLOCKS + j), w.lane);
                    multiply_numbers(w, &score[j], &REST_OF(score)[j], a, b);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        UNROLL for (int j = 0; j < SCORE_BLOCKS; j++)
            UNROLL for (int v = 0; v < VALUES; v++)
                scores[(wave_m * 16 + sum_row(w.lane, v)) * PITCH + (wave_n * SCORE_BLOCKS + j) * 16 + sum_column(w.lane, v)] =
                    WHOLE_SUM(score[j], REST_OF(score)[j], v);
        barrier(CLK_LOCAL_MEM_FENCE);

        for (uint i = 0; i < ROWS; i++) {
            const uint row = row_of(line, i);
            const usable_keys usable = usable_by(&group, min((int)row, rows - 1));
            float top = -INFINITY;
#pragma unroll 1
            for (uint key = share * SHARE; key < (share + 1) * SHARE; key += 4) {
                __local float4 *const at = (__local float4 *)(scores + row * PITCH + key);
                *at = masked(*at, first + (int)key, is_mixed, &usable, &top);
            }
            found[share * TILE + row] = top;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < ROWS; i++) {
            const uint row = row_of(line, i);
            float top = maximum[i];
            for (uint s = 0; s < SHARES; s++)
                top = fmax(top, found[s * TILE + row]);
            shift[i] = top == -INFINITY ? 0.0f : top;
            const float factor = EXP(maximum[i] - shift[i]);
            maximum[i] = top;
            total[i] *= factor;
            if (share == 0)
                factors[row] = factor;
        }
        for (uint i = 0; i < (SECOND_LINE ? 1 : ROWS); i++) {
            const uint row = row_of(line, i), other = SECOND_LINE ? 1 : i;
#pragma unroll 1
            for (uint key = share * SHARE; key < (share + 1) * SHARE; key += 4 * (1 + SECOND_T)) {
                __local const float *const at = scores + row * PITCH + key;
                const float4 one = weighed(at, shift[i], &total[i]);
                const float4 two = weighed(at + SECOND_LINE * PITCH + 4 * SECOND_T, shift[other], &total[other]);
                put_a(weights, TILE, KEY_BLOCK, NUMBERS, row, key / 4, one, two);
            }
        }

#pragma unroll 1
        for (int part = 0; part < KEY_BLOCK; part += PART_KEYS) {
            const int part_first = first + part;
            for (uint at = item; at < WIDE * PART_KEYS / 8; at += GROUP) {
                const uint column = eight_line(at, WIDE, PART_KEYS, false), t = eight_t(at, WIDE, PART_KEYS, false);
#define FETCH_V(second)                                                                                                       \
    used_values(fetch_column(v + (long)part_first * v_stride, column + (second) * SECOND_LINE, (t + (second) * SECOND_T) * 4, \
                             HEAD_V - 1, group.range.end - part_first, 1, (uint)v_stride),                                    \
                part_first + (int)(t + (second) * SECOND_T) * 4, group.range.end, key_mask, key_mask_stride)
                put_b(operand, WIDE, PART_KEYS, NUMBERS, column, t, FETCH_V(0), FETCH_V(1));
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            UNROLL for (int j = 0; j < COLUMN_BLOCKS; j++)
            {
                sums product;
                clear(&product);
#if HAS_REST_SUMS
                sums rest_product;
                clear(&rest_product);
#endif
                UNROLL for (int depth = 0; depth < PART_KEYS / 16; depth++)
                {
                    fragment a[NUMBERS], b[NUMBERS];
                    UNROLL for (int i = 0; i < NUMBERS; i++)
                    {
                        a[i] = load_a_local(BLOCK_OF(weights, TILE, KEY_BLOCK, i, part / 16 + depth, wave_m), w.lane);
                        b[i] = load_b_local(BLOCK_OF(operand, WIDE, PART_KEYS, i, depth, wave_n * COLUMN_BLOCKS + j), w.lane);
                    }
                    multiply_numbers(w, &product, &REST_OF(product), a, b);
                }
                UNROLL for (int v = 0; v < VALUES; v++)
                {
                    const float factor = part ? 1.0f : factors[wave_m * 16 + sum_row(w.lane, v)];
                    result[j].values[v] = fma(result[j].values[v], factor, WHOLE_SUM(product, REST_OF(product), v));
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }

    /* Sums of rows go to `found`, their shifts to `factors`. */
    barrier(CLK_LOCAL_MEM_FENCE); /* ends the loop's use of local memory, also if it had no block */
    for (uint i = 0; i < ROWS; i++) {
        found[share * TILE + row_of(line, i)] = total[i];
        if (share == 0)
            factors[row_of(line, i)] = shift[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint row = item; row < TILE; row += GROUP) {
        float sum = 0.0f;
        for (uint s = 0; s < SHARES; s++)
            sum += found[s * TILE + row];
        found[row] = sum;
    }
    /* Results go through the memory of scores, one block of columns of every wave at a time. */
    UNROLL for (int j = 0; j < COLUMN_BLOCKS; j++)
    {
        UNROLL for (int v = 0; v < VALUES; v++)
            scores[(wave_m * 16 + sum_row(w.lane, v)) * PITCH + wave_n * 16 + sum_column(w.lane, v)] = result[j].values[v];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
        for (uint at = item; at < TILE * 16 * WAVES_N; at += GROUP) {
            const uint query = at / (16 * WAVES_N), here = at % (16 * WAVES_N), column = (here / 16 * COLUMN_BLOCKS + j) * 16 + here % 16;
            if ((int)query < rows && column < HEAD_V) {
                const float sum = found[query], empty = EMPTY_ROWS == EMPTY_ROWS_NAN && tile.k_count > 0 ? NAN : 0.0f;
                const float value = scores[query * PITCH + here] * (sum == 0.0f ? empty : 1.0f / sum);
                STORE_OUT(group.out + (long)query * out_stride, column,
                          settled(&group, (int)query, (int)column, value, sum, factors[query]));
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
