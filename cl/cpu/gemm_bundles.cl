/* SPDX-License-Identifier: MIT */
/* Products of few rows with quantised weights in bundles: ROWS rows of A by VECTORS bundles, all lanes rows of the weight. Integers become
 * floats in registers; scale and shift are applied once a group of 32 columns, the shift to the sum of x over the group. IS_GATED: the two
 * bundles of a work-item are the same rows of two weights, and the result is f(a b + bias) * (a gate). */
#include "bundle_lines.cl"
#include "gemm_common.cl"
#include "gemm_unroll.cl"
#include "lane_sum.cl"
#include "prefetch.cl"
#include "item.cl"

#if !defined(ROWS) || !defined(VECTORS) || !defined(IS_C_VECTOR) || !defined(IS_GATED)
#error "ROWS: 1 to 8; VECTORS: 1 to 4 bundles of a work-item; IS_C_VECTOR: columns of c and residual contiguous, blocks of whole vectors; \
IS_GATED: 0 or 1"
#endif

#define START(i, v) total[i][v] = (floatv)(0.0f);
#define START_ROW(i) EACH_VECTOR(START, i)
#define CLEAR(i, v) low[i][v] = high[i][v] = (floatv)(0.0f);
#define CLEAR_ROW(i) EACH_VECTOR(CLEAR, i)

#if IS_GATED
#define COLUMN_BUNDLES 1
#define FIND_BUNDLE(unused, v) bundle[v] = (v ? gate : b) + first * bundle_bytes;
#define GATED(value, i) ((value) * kept[i][VECTORS - 1])
#else
#define COLUMN_BUNDLES VECTORS
#define FIND_BUNDLE(unused, v) bundle[v] = b + min(first + v, bundles - 1) * bundle_bytes;
#define GATED(value, i) (value)
#endif
#define FIND_GROUP(unused, v) group[v] = bundle[v] + HEAD_BYTES + g * GROUP_BYTES;
#if HAS_FIFTH_BITS
#define LOAD_FIFTH(unused, v) fifth[v] = vload16(0, (__global const uint *)(group[v] + SCALES_BYTES));
#else
#define LOAD_FIFTH(unused, v)
#endif
/* The scales of a unit; the unit that comes AHEAD bytes later is asked for, which the processor would not do beyond the end of a page. */
#define AHEAD 4096
#define LOAD_SCALE(unused, v)                                 \
    d[v] = unit_half(bundle[v], 0);                           \
    for (int byte = 0; byte < UNIT_BYTES; byte += 64)         \
        PREFETCH_STREAM(bundle[v] + AHEAD + byte);

#define LOAD_LINE(j, v)                                               \
    low_weight[v] = low_line(LINE_ARGUMENTS(group[v], fifth[v]), j);  \
    high_weight[v] = high_line(LINE_ARGUMENTS(group[v], fifth[v]), j);
#define ADD_LINE(i, v)                                         \
    low[i][v] = low_weight[v] * x_low + low[i][v];             \
    high[i][v] = high_weight[v] * x_high + high[i][v];
#define ADD_ROW(i)                                                               \
    {                                                                            \
        const floatv x_low = (floatv)(a[i * a_row_stride + column + line]);      \
        const floatv x_high = (floatv)(a[i * a_row_stride + column + line + 16]); \
        EACH_VECTOR(ADD_LINE, i)                                                 \
    }
#define LINE(j)                                 \
    {                                           \
        const int line = j;                     \
        floatv low_weight[VECTORS], high_weight[VECTORS]; \
        EACH_VECTOR(LOAD_LINE, j)               \
        EACH_ROW(ADD_ROW)                       \
    }

#if BLOCKS == BLOCKS_Q6_K
#define SCALED(i, v) (low[i][v] * group_scale(d[v], group[v], 0) + high[i][v] * group_scale(d[v], group[v], 1))
#else
#define SCALED(i, v) ((low[i][v] + high[i][v]) * group_scale(d[v], group[v], 0))
#endif
#if HAS_SHIFT
#define SHIFTED(v) +group_shift(bundle[v], d[v], group[v]) * x_sum
#else
#define SHIFTED(v)
#endif
#define ADD_GROUP(i, v) total[i][v] += SCALED(i, v) SHIFTED(v);
#define ADD_GROUP_ROW(i)                                                                                             \
    {                                                                                                                \
        const floatv x_sum = (floatv)(HAS_SHIFT ? lane_sum(vector_load_f32(a + i * a_row_stride + column) +          \
                                                           vector_load_f32(a + i * a_row_stride + column + 16)) : 0); \
        EACH_VECTOR(ADD_GROUP, i)                                                                                    \
    }
#define NEXT_UNIT(unused, v) bundle[v] += UNIT_BYTES;

#define KEEP(i, v) kept[i][v] = total[i][v];
#define KEEP_ROW(i) EACH_VECTOR(KEEP, i)

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm_bundles(ITEM_PARAMETERS int m, int n, int k, __global const float *restrict a, long a_offset, long a_row_stride,
                  __global const uchar *restrict b, __global const uchar *restrict gate, RESULT_PARAMETERS)
{
    const int first = (int)get_group_id(0) * COLUMN_BUNDLES, bundles = (n + BUNDLE - 1) / BUNDLE;
    const int first_row = min((int)get_group_id(1) * ROWS, m - ROWS);
    const long bundle_bytes = (long)(k / BLOCK_WEIGHTS) * UNIT_BYTES;
    __global const uchar *bundle[VECTORS], *group[VECTORS];
    floatv total[ROWS][VECTORS], d[VECTORS];
#if HAS_FIFTH_BITS
    uintv fifth[VECTORS];
#endif
    a += a_offset + first_row * a_row_stride;
    EACH_VECTOR(FIND_BUNDLE, 0)
    EACH_ROW(START_ROW)
    int column = 0;
    while (column < k) {
        EACH_VECTOR(LOAD_SCALE, 0)
        for (int g = 0; g < UNIT_GROUPS; g++) {
            floatv low[ROWS][VECTORS], high[ROWS][VECTORS];
            EACH_VECTOR(FIND_GROUP, 0)
            EACH_VECTOR(LOAD_FIFTH, 0)
            EACH_ROW(CLEAR_ROW)
            LINES_16(LINE)
            EACH_ROW(ADD_GROUP_ROW)
            column += 32;
        }
        EACH_VECTOR(NEXT_UNIT, 0)
    }

    floatv kept[ROWS][VECTORS];
    EACH_ROW(KEEP_ROW)
    for (int i = 0; i < ROWS; i++) {
        const int row = first_row + i;
        for (int v = 0; v < COLUMN_BUNDLES && (first + v) * BUNDLE < n; v++) {
            const int at = (first + v) * BUNDLE;
            if (IS_C_VECTOR && at + BUNDLE <= n) {
                floatv value = GATED(FINISH(kept[i][v], HAS_BIAS ? VECTOR_LOAD(bias + bias_offset + at) : (floatv)(0.0f)), i);
#if HAS_RESIDUAL
                value += PASTE(vector_, LOAD_R)(residual + R_ROW(0, row) + at);
#endif
                PASTE(vector_, STORE_C)(c + C_ROW(0, row) + C_COLUMN(at), value);
                continue;
            }
            const floatv value = GATED(FINISH(kept[i][v], HAS_BIAS ? VECTOR_LOAD(bias + bias_offset + at) : (floatv)(0.0f)), i);
            for (int j = 0; j < min(BUNDLE, n - at); j++)
                STORE_C(c, C_ROW(0, row) + C_COLUMN(at + j),
                        ADD_RESIDUAL(((__private const float *)&value)[j], R_ROW(0, row) + (at + j) * r_column_stride));
        }
    }
}
