/* SPDX-License-Identifier: MIT */
/* Products of few rows with quantised weights in bundles. Integers become floats in registers; scale and shift are applied once for each
 * group of 32 columns, the shift to the sum of x over the group. */
#include "bundle_tile.cl"
#include "lane_sum.cl"
#include "item.cl"

#define CLEAR(i, v) low[i][v] = high[i][v] = (floatv)(0.0f);
#define CLEAR_ROW(i) EACH_VECTOR(CLEAR, i)

/* IS_IN_PLACE: nibbles become scaled floats (bundle_lines.cl); x is multiplied by the inverse scales once for all rows of the weight. */
#if IS_IN_PLACE
#define LOAD_LINE(j, v)                                           \
    low_weight[v] = LOW_IN_PLACE(quad(group[v], j), (j) % 4);     \
    high_weight[v] = HIGH_IN_PLACE(quad(group[v], j), (j) % 4);
#define X_LOW(i, j) scaled[i][j]
#define X_HIGH(i, j) scaled[i][(j) + 16]
#define SCALE_ROW(i)                                                                                                        \
    vstore16(vector_load_f32(a + i * a_row_stride + column) * low_scale, 0, scaled[i]);                                     \
    vstore16(vector_load_f32(a + i * a_row_stride + column + 16) * high_scale, 1, scaled[i]);
#else
#define LOAD_LINE(j, v)                                               \
    low_weight[v] = low_line(LINE_ARGUMENTS(group[v], fifth[v]), j);  \
    high_weight[v] = high_line(LINE_ARGUMENTS(group[v], fifth[v]), j);
#define X_LOW(i, j) a[i * a_row_stride + column + (j)]
#define X_HIGH(i, j) a[i * a_row_stride + column + (j) + 16]
#define SCALE_ROW(i)
#endif
#define ADD_LINE(i, v)                                         \
    low[i][v] = low_weight[v] * x_low + low[i][v];             \
    high[i][v] = high_weight[v] * x_high + high[i][v];
#define ADD_ROW(i)                                                               \
    {                                                                            \
        const floatv x_low = (floatv)(X_LOW(i, line));   \
        const floatv x_high = (floatv)(X_HIGH(i, line)); \
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
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm_bundles(ITEM_PARAMETERS int m, int n, int k, __global const float *restrict a, long a_offset, long a_row_stride,
                  __global const uchar *restrict b, __global const uchar *restrict gate, RESULT_PARAMETERS)
{
    const int first = (int)get_group_id(0) * COLUMN_BUNDLES, bundles = (n + BUNDLE - 1) / BUNDLE;
    const int first_row = min((int)get_group_id(1) * ROWS, m - ROWS);
    const long bundle_bytes = (long)(k / BLOCK_WEIGHTS) * UNIT_BYTES;
    __global const uchar *bundle[VECTORS], *group[VECTORS];
    floatv total[ROWS][VECTORS], d[VECTORS];
    DECLARE_FIFTH
#if IS_IN_PLACE
    const float4 low_four = LOW_PLACES, high_four = HIGH_PLACES;
    const floatv low_scale = (floatv)(low_four, low_four, low_four, low_four);
    const floatv high_scale = (floatv)(high_four, high_four, high_four, high_four);
    float scaled[ROWS][32];
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
            EACH_ROW(SCALE_ROW)
            LINES_16(LINE)
            EACH_ROW(ADD_GROUP_ROW)
            column += 32;
        }
        EACH_VECTOR(NEXT_UNIT, 0)
    }

    floatv kept[ROWS * VECTORS];
    EACH_ROW(KEEP_ROW)
    store_tile(kept, first_row, ROWS, first, n, RESULT_ARGUMENTS);
}
