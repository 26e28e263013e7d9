/* SPDX-License-Identifier: MIT */
/* Products of rows of integers of BYTES bytes (byte_rows.cl) with quantised weights in bundles. Integers are summed over a group of 32
 * columns, which share a scale of the weight and of the row.
 *
 * Over one group, row r of the weight times a row of A is s (start + sum_j w[r,j] q[j]) d[r] + m[r] (s sum_j q[j]). s is A's scale, d and m
 * are the weight's scale and shift. w is stored unsigned, and `start` subtracts the excess. */
#include "bundle_tile.cl"
#include "byte_dot.cl"
#include "item.cl"

#if !defined(BYTES) || !defined(SCALE_WORDS)
#error "BYTES: 1, 2 or 4 of an integer of A; SCALE_WORDS: of a group, as byte_rows.cl writes them"
#endif
#if BYTES == 1
#define EACH_PART(F, i, v) F(0, i, v)
#define PRODUCT(i, v, half) TO_FLOATV(sum[0][i][v][half])
#define IS_LAST(part) true
#elif BYTES == 2
#define EACH_PART(F, i, v) F(0, i, v) F(1, i, v)
#define PRODUCT(i, v, half) TO_FLOATV((sum[0][i][v][half] << 8) + sum[1][i][v][half])
#define IS_LAST(part) ((part) == 1)
#else
#define EACH_PART(F, i, v) F(0, i, v) F(1, i, v) F(2, i, v) F(3, i, v)
#define UPPER(i, v, half) TO_FLOATV((sum[0][i][v][half] << 8) + sum[1][i][v][half])
#define LOWER(i, v, half) TO_FLOATV((sum[2][i][v][half] << 8) + sum[3][i][v][half])
#define PRODUCT(i, v, half) (UPPER(i, v, half) * 65536.0f + LOWER(i, v, half))
#define IS_LAST(part) ((part) % 2 == 1)
#endif
#define START_OF(part, half) as_int(at[2 + (part) / 2 * 2 + (half)])

/* Number of integer sums for the columns of a group: two if the upper half has a scale of its own, otherwise one. */
#if BLOCKS == BLOCKS_Q6_K
#define HALVES 2
#else
#define HALVES 1
#endif

/* Moves bits 0 to 3 of a word to bit 4 of its bytes. */
inline uintv spread_bits(uintv bits)
{
    return ((bits & 15u) * 0x00204081u & 0x01010101u) << 4;
}

#if IS_BYTES
/* Makes bytes unsigned. Sums of pairs need the smallest integers that are possible, for Q6_K from 0 to 63. */
#define WITHOUT_SIGN(bytes) (((bytes) ^ 0x80808080u) - (IS_NARROW_DOT && BLOCKS == BLOCKS_Q6_K ? 0x60606060u : 0u))
#define LOAD_LINE(i, v)                                               \
    low_weight[v] = WITHOUT_SIGN(quad(group[v], 4 * i));              \
    high_weight[v] = WITHOUT_SIGN(quad(group[v], 4 * i + 16));
#elif HAS_FIFTH_BITS
#define LOAD_LINE(i, v)                                                                                 \
    {                                                                                                   \
        const uintv nibbles = quad(group[v], 4 * i);                                                       \
        low_weight[v] = nibbles & 0x0f0f0f0fu | spread_bits(fifth[v] >> (uintv)(4 * i));                \
        high_weight[v] = nibbles >> 4 & 0x0f0f0f0fu | spread_bits(fifth[v] >> (uintv)(4 * i + 16));     \
    }
#else
#define LOAD_LINE(i, v)                                              \
    {                                                                \
        const uintv nibbles = quad(group[v], 4 * i);  \
        low_weight[v] = nibbles & 0x0f0f0f0fu;                       \
        high_weight[v] = nibbles >> 4 & 0x0f0f0f0fu;                 \
    }
#endif
/* Integers of A lie in planes, their highest bytes first. */
#define ROW_BYTES(part) (row + (part) * plane_words + line)
#if IS_NARROW_DOT && BLOCKS == BLOCKS_Q8_0
/* The low and the high nibbles of bytes have separate sums. */
#define ADD_NIBBLES(sums, weight, b)                              \
    sums[0] = add_pairs(sums[0], (weight) & 0x0f0f0f0fu, b);      \
    sums[1] = add_pairs(sums[1], (weight) >> 4 & 0x0f0f0f0fu, b);
#define ADD_PART(part, i, v)                                               \
    ADD_NIBBLES(pairs[part][i][v], low_weight[v], ROW_BYTES(part))         \
    ADD_NIBBLES(pairs[part][i][v], high_weight[v], ROW_BYTES(part) + 4)
#elif IS_NARROW_DOT
#define ADD_PART(part, i, v)                                                                  \
    pairs[part][i][v][0] = add_pairs(pairs[part][i][v][0], low_weight[v], ROW_BYTES(part));   \
    pairs[part][i][v][HALVES - 1] = add_pairs(pairs[part][i][v][HALVES - 1], high_weight[v], ROW_BYTES(part) + 4);
#else
#define ADD_PART(part, i, v)                                                                                  \
    sum[part][i][v][0] = dot_bytes(sum[part][i][v][0], low_weight[v], ROW_BYTES(part));                      \
    sum[part][i][v][HALVES - 1] = dot_bytes(sum[part][i][v][HALVES - 1], high_weight[v], ROW_BYTES(part) + 4);
#endif
#define ADD_LINE(i, v) EACH_PART(ADD_PART, i, v)
#define ADD_ROW(i)                                                                              \
    {                                                                                           \
        __global const int *row = (__global const int *)(q + (long)(i) * k + column);           \
        EACH_VECTOR(ADD_LINE, i)                                                                \
    }
#define LINE(i)                                           \
    {                                                     \
        const int line = i;                               \
        uintv low_weight[VECTORS], high_weight[VECTORS];  \
        EACH_VECTOR(LOAD_LINE, i)                         \
        EACH_ROW(ADD_ROW)                                 \
    }

/* The sums of the lowest bytes of each 16 bits begin with the group's start value. */
#define START_PART(part, i, v)                                                                                                \
    sum[part][i][v][0] = (intv)(IS_LAST(part) ? START_OF(part, 0) : 0);                                                      \
    sum[part][i][v][HALVES - 1] = (intv)(IS_LAST(part) ? START_OF(part, HALVES - 1) : 0);
#define START_SUM(i, v) EACH_PART(START_PART, i, v)
#define START_SUMS(i)                                                                           \
    {                                                                                           \
        __global const float *at = scales + ((i) * groups + (int)((uint)column / 32)) * SCALE_WORDS;   \
        EACH_VECTOR(START_SUM, i)                                                               \
    }

#if IS_NARROW_DOT
#define PAIR_SUMS (IS_BYTES ? 2 : 1)
#define CLEAR_PART(part, i, v) pairs[part][i][v][0] = pairs[part][i][v][PAIR_SUMS - 1] = (uintv)(0);
#define CLEAR_VECTOR(i, v) EACH_PART(CLEAR_PART, i, v)
#define CLEAR_PAIRS(i) EACH_VECTOR(CLEAR_VECTOR, i)
#if BLOCKS == BLOCKS_Q8_0
#define FOLD_PART(part, i, v) sum[part][i][v][0] += sum_pairs(pairs[part][i][v][0]) + (sum_pairs(pairs[part][i][v][1]) << 4);
#elif HALVES == 2
#define FOLD_PART(part, i, v)                                  \
    sum[part][i][v][0] += sum_pairs(pairs[part][i][v][0]);     \
    sum[part][i][v][1] += sum_pairs(pairs[part][i][v][1]);
#else
#define FOLD_PART(part, i, v) sum[part][i][v][0] += sum_pairs(pairs[part][i][v][0]);
#endif
#define FOLD_VECTOR(i, v) EACH_PART(FOLD_PART, i, v)
#define FOLD_PAIRS(i) EACH_VECTOR(FOLD_VECTOR, i)
/* The largest sums of pairs are below 2^15: 8*2*15*128 for nibbles, 4*2*31*128 for five bits, 2*2*63*128 for Q6_K. */
#define IS_FOLDED_TWICE (HAS_FIFTH_BITS || BLOCKS == BLOCKS_Q6_K)
#if IS_FOLDED_TWICE
#define FOLD_MIDDLE EACH_ROW(START_SUMS) EACH_ROW(FOLD_PAIRS) EACH_ROW(CLEAR_PAIRS)
#define FOLD_END EACH_ROW(FOLD_PAIRS)
#else
#define FOLD_MIDDLE
#define FOLD_END EACH_ROW(START_SUMS) EACH_ROW(FOLD_PAIRS)
#endif
#define ADD_LINES EACH_ROW(CLEAR_PAIRS) LINE(0) LINE(1) FOLD_MIDDLE LINE(2) LINE(3) FOLD_END
#else
#define ADD_LINES EACH_ROW(START_SUMS) LINE(0) LINE(1) LINE(2) LINE(3)
#endif

#if HALVES == 2
#define SCALED(i, v) (PRODUCT(i, v, 0) * factor[v] + PRODUCT(i, v, 1) * high_factor[v])
#define LOAD_FACTOR(unused, v)                     \
    factor[v] = group_scale(d[v], group[v], 0);    \
    high_factor[v] = group_scale(d[v], group[v], 1);
#else
#define SCALED(i, v) (PRODUCT(i, v, 0) * factor[v])
#define LOAD_FACTOR(unused, v) factor[v] = group_scale(d[v], group[v], 0);
#endif
#if HAS_MINIMUM
#define LOAD_SHIFT(unused, v) shift[v] = group_shift(bundle[v], d[v], group[v]);
#define ADD_GROUP(i, v) total[i][v] += SCALED(i, v) * at[0] + shift[v] * at[1];
#else
#define LOAD_SHIFT(unused, v)
#define ADD_GROUP(i, v) total[i][v] += SCALED(i, v) * at[0];
#endif
#define ADD_GROUP_ROW(i)                                                     \
    {                                                                        \
        __global const float *at = scales + ((i) * groups + (int)((uint)column / 32)) * SCALE_WORDS;   \
        EACH_VECTOR(ADD_GROUP, i)                                            \
    }

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm_bundles_bytes(ITEM_PARAMETERS int m, int n, int k, __global const char *restrict q, long q_offset, long q_plane,
                        __global const float *restrict scales, long scales_offset, __global const uchar *restrict b,
                        __global const uchar *restrict gate, RESULT_PARAMETERS)
{
    const int first = (int)get_group_id(1) * COLUMN_BUNDLES, bundles = (n + BUNDLE - 1) / BUNDLE, groups = (int)((uint)k / 32);
    const int first_row = min((int)get_group_id(0) * ROWS, m - ROWS);
    const long bundle_bytes = (long)(k / BLOCK_WEIGHTS) * UNIT_BYTES;
    __global const uchar *bundle[VECTORS], *group[VECTORS];
    floatv total[ROWS][VECTORS], d[VECTORS], factor[VECTORS];
#if HALVES == 2
    floatv high_factor[VECTORS];
#endif
#if HAS_MINIMUM
    floatv shift[VECTORS];
#endif
    DECLARE_FIFTH
    q += q_offset + (long)first_row * k;
    scales += scales_offset + (long)first_row * groups * SCALE_WORDS;
    const long plane_words = q_plane / 4;
    EACH_VECTOR(FIND_BUNDLE, 0)
    EACH_ROW(START_ROW)
    int column = 0;
    while (column < k) {
        EACH_VECTOR(LOAD_SCALE, 0)
        for (int g = 0; g < UNIT_GROUPS; g++) {
            intv sum[BYTES][ROWS][VECTORS][HALVES];
#if IS_NARROW_DOT
            uintv pairs[BYTES][ROWS][VECTORS][PAIR_SUMS];
#endif
            EACH_VECTOR(FIND_GROUP, 0)
            EACH_VECTOR(LOAD_FIFTH, 0)
            ADD_LINES
            EACH_VECTOR(LOAD_FACTOR, 0)
            EACH_VECTOR(LOAD_SHIFT, 0)
            EACH_ROW(ADD_GROUP_ROW)
            column += 32;
        }
        EACH_VECTOR(NEXT_UNIT, 0)
    }
    floatv kept[ROWS * VECTORS];
    EACH_ROW(KEEP_ROW)
    store_tile(kept, first_row, ROWS, first, n, RESULT_ARGUMENTS);
}
