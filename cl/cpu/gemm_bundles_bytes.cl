/* SPDX-License-Identifier: MIT */
/* Products of rows of integers of BYTES bytes (byte_rows.cl) with quantised weights in bundles: sums of integers over a group of 32
 * columns, which is what the scales of the weight and those of the row are good for.
 *
 * Of a row r of the weight and a row of A over one group: s (start + sum_j w[r,j] q[j]) d[r] + m[r] (s sum_j q[j]), where w is stored
 * without sign, start takes what that adds, s is A's scale, d and m the weight's. */
#include "bundle_tile.cl"
#include "byte_dot.cl"
#include "item.cl"

#ifndef BYTES
#error "BYTES: 1 or 2 of an integer of A"
#endif

/* Integers have these sums for the columns of a group: one, or where the upper half has a scale of its own, two. */
#if BLOCKS == BLOCKS_Q6_K
#define HALVES 2
#else
#define HALVES 1
#endif

/* Bits 0 to 3 of a word as the bits 4 of its bytes. */
inline uintv spread_bits(uintv bits)
{
    return ((bits & 15u) * 0x00204081u & 0x01010101u) << 4;
}

#if IS_BYTES
#define LOAD_LINE(i, v)                                                    \
    low_weight[v] = quad(group[v], 4 * i) ^ 0x80808080u;    \
    high_weight[v] = quad(group[v], 4 * i + 16) ^ 0x80808080u;
#elif HAS_FIFTH_BITS
#define LOAD_LINE(i, v)                                                                                 \
    {                                                                                                   \
        const uintv nibbles = quad(group[v], 4 * i);                                     \
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
#define ADD_LINE(i, v)                                                        \
    sum[i][v][0] = dot_bytes(sum[i][v][0], low_weight[v], row + line);        \
    sum[i][v][HALVES - 1] = dot_bytes(sum[i][v][HALVES - 1], high_weight[v], row + line + 4); \
    if (BYTES == 2) {                                                         \
        lower[i][v][0] = dot_bytes(lower[i][v][0], low_weight[v], lower_row + line); \
        lower[i][v][HALVES - 1] = dot_bytes(lower[i][v][HALVES - 1], high_weight[v], lower_row + line + 4); \
    }
#define ADD_ROW(i)                                                                       \
    {                                                                                    \
        __global const int *row = (__global const int *)(q + (long)(i) * k + column);    \
        __global const int *lower_row = (__global const int *)(q + q_plane + (long)(i) * k + column);  \
        EACH_VECTOR(ADD_LINE, i)                                                         \
    }
#define LINE(i)                                           \
    {                                                     \
        const int line = i;                               \
        uintv low_weight[VECTORS], high_weight[VECTORS];  \
        EACH_VECTOR(LOAD_LINE, i)                         \
        EACH_ROW(ADD_ROW)                                 \
    }

/* Sums of the last bytes begin with what the rows say. */
#if BYTES == 2
#define LAST lower
#define CLEAR_UPPER(i, v) sum[i][v][0] = sum[i][v][HALVES - 1] = (intv)(0);
#define INTEGER(i, v, half) ((sum[i][v][half] << 8) + lower[i][v][half])
#else
#define LAST sum
#define CLEAR_UPPER(i, v)
#define INTEGER(i, v, half) sum[i][v][half]
#endif
#define START_SUM(i, v)                     \
    CLEAR_UPPER(i, v)                       \
    LAST[i][v][0] = (intv)(as_int(at.y));   \
    if (HALVES == 2)                        \
        LAST[i][v][HALVES - 1] = (intv)(as_int(at.z));
#define START_SUMS(i)                                                        \
    {                                                                        \
        const float4 at = scales[(i) * groups + (uint)column / 32];          \
        EACH_VECTOR(START_SUM, i)                                            \
    }

#if HALVES == 2
#define SCALED(i, v) (TO_FLOATV(INTEGER(i, v, 0)) * factor[v] + TO_FLOATV(INTEGER(i, v, 1)) * high_factor[v])
#define LOAD_FACTOR(unused, v)                     \
    factor[v] = group_scale(d[v], group[v], 0);    \
    high_factor[v] = group_scale(d[v], group[v], 1);
#else
#define SCALED(i, v) (TO_FLOATV(INTEGER(i, v, 0)) * factor[v])
#define LOAD_FACTOR(unused, v) factor[v] = group_scale(d[v], group[v], 0);
#endif
#if HAS_MINIMUM
#define LOAD_SHIFT(unused, v) shift[v] = group_shift(bundle[v], d[v], group[v]);
#define ADD_GROUP(i, v) total[i][v] += SCALED(i, v) * at.x + shift[v] * at.w;
#else
#define LOAD_SHIFT(unused, v)
#define ADD_GROUP(i, v) total[i][v] += SCALED(i, v) * at.x;
#endif
#define ADD_GROUP_ROW(i)                                                     \
    {                                                                        \
        const float4 at = scales[(i) * groups + (uint)column / 32];          \
        EACH_VECTOR(ADD_GROUP, i)                                            \
    }

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm_bundles_bytes(ITEM_PARAMETERS int m, int n, int k, __global const char *restrict q, long q_offset, long q_plane,
                        __global const float4 *restrict scales, long scales_offset, __global const uchar *restrict b,
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
    scales += scales_offset + (long)first_row * groups;
    EACH_VECTOR(FIND_BUNDLE, 0)
    EACH_ROW(START_ROW)
    int column = 0;
    while (column < k) {
        EACH_VECTOR(LOAD_SCALE, 0)
        for (int g = 0; g < UNIT_GROUPS; g++) {
            intv sum[ROWS][VECTORS][HALVES], lower[BYTES == 2 ? ROWS : 1][VECTORS][HALVES];
            EACH_VECTOR(FIND_GROUP, 0)
            EACH_VECTOR(LOAD_FIFTH, 0)
            EACH_ROW(START_SUMS)
            LINE(0) LINE(1) LINE(2) LINE(3)
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
