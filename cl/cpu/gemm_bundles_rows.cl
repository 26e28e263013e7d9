/* SPDX-License-Identifier: MIT */
/* Products of many rows with quantised weights in bundles, as they are stored: each weight becomes a float, d q + m, once for the ROWS rows
 * of a tile. a holds rows in panels, [panel][k][ROWS], zeros behind the last row (gemm_pack_vector.cl).
 *
 * PART_ROWS: the rows whose sums are in registers at once. Where they are all of the tile, a weight is multiplied as it is made; where the
 * processor has fewer registers, the weights of a group are kept in memory, and PART_ROWS after PART_ROWS multiplied by them. Each sum adds
 * the same products in the same order. */
#include "bundle_tile.cl"
#include "item.cl"

#if !defined(PART_ROWS)
#error "PART_ROWS: 4, or ROWS"
#endif

#if HAS_SHIFT
#define LOAD_SHIFT(unused, v) shift[v] = group_shift(bundle[v], d[v], group[v]);
#else
#define LOAD_SHIFT(unused, v)
#endif
#define LOAD_FACTORS(unused, v)                                \
    low_factor[v] = group_scale(d[v], group[v], 0);            \
    high_factor[v] = group_scale(d[v], group[v], HIGH_PART);
#define LOAD_LINE(unused, v)                                                                             \
    low_weight[v] = WEIGHT(low_line(LINE_ARGUMENTS(group[v], fifth[v]), line), low_factor[v], shift[v]); \
    high_weight[v] = WEIGHT(high_line(LINE_ARGUMENTS(group[v], fifth[v]), line), high_factor[v], shift[v]);
#define KEEP_LINE(unused, v)                  \
    low_weights[line][v] = low_weight[v];     \
    high_weights[line][v] = high_weight[v];
#define FIND_LINE(unused, v)                  \
    low_weight[v] = low_weights[line][v];     \
    high_weight[v] = high_weights[line][v];
#define ADD_LOW(i, v) sum[i][v] = low_weight[v] * (floatv)(x[i]) + sum[i][v];
#define ADD_HIGH(i, v) sum[i][v] = high_weight[v] * (floatv)(x[16 * ROWS + i]) + sum[i][v];
#define ADD_LOW_ROW(i) EACH_VECTOR(ADD_LOW, i)
#define ADD_HIGH_ROW(i) EACH_VECTOR(ADD_HIGH, i)
#define READ_SUM(i, v) sum[i][v] = total[part + i][v];
#define READ_SUM_ROW(i) EACH_VECTOR(READ_SUM, i)
#define WRITE_SUM(i, v) total[part + i][v] = sum[i][v];
#define WRITE_SUM_ROW(i) EACH_VECTOR(WRITE_SUM, i)
#define EACH_PART_ROW(F) PASTE(ROWS_, PART_ROWS)(F)

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void gemm_bundles_rows(ITEM_PARAMETERS int m, int n, int k, __global const float *restrict a, long a_offset,
                       __global const uchar *restrict b, __global const uchar *restrict gate, RESULT_PARAMETERS)
{
    const int first = (int)get_group_id(0) * COLUMN_BUNDLES, bundles = (n + BUNDLE - 1) / BUNDLE;
    const int first_row = (int)get_group_id(1) * ROWS, rows = min(ROWS, m - first_row);
    const long bundle_bytes = (long)(k / BLOCK_WEIGHTS) * UNIT_BYTES;
    __global const uchar *bundle[VECTORS], *group[VECTORS];
    floatv total[ROWS][VECTORS], d[VECTORS], low_factor[VECTORS], high_factor[VECTORS];
#if HAS_SHIFT
    floatv shift[VECTORS];
#endif
#if HAS_FIFTH_BITS
    uintv fifth[VECTORS];
#endif
    a += a_offset + (long)first_row * k;
    EACH_VECTOR(FIND_BUNDLE, 0)
    EACH_ROW(START_ROW)
    int column = 0;
    while (column < k) {
        EACH_VECTOR(LOAD_SCALE, 0)
        for (int g = 0; g < UNIT_GROUPS; g++) {
            EACH_VECTOR(FIND_GROUP, 0)
            EACH_VECTOR(LOAD_FIFTH, 0)
            EACH_VECTOR(LOAD_FACTORS, 0)
            EACH_VECTOR(LOAD_SHIFT, 0)
#if PART_ROWS == ROWS
            floatv(*const sum)[VECTORS] = total;
            __attribute__((opencl_unroll_hint(1))) /* lines as one text are put in an order that takes more registers than there are */
            for (int line = 0; line < 16; line++) {
                __global const float *x = a + (long)(column + line) * ROWS;
                floatv low_weight[VECTORS], high_weight[VECTORS];
                EACH_VECTOR(LOAD_LINE, 0)
                EACH_ROW(ADD_LOW_ROW)
                EACH_ROW(ADD_HIGH_ROW)
            }
#else
            floatv low_weights[16][VECTORS], high_weights[16][VECTORS], low_weight[VECTORS], high_weight[VECTORS];
            for (int line = 0; line < 16; line++) {
                EACH_VECTOR(LOAD_LINE, 0)
                EACH_VECTOR(KEEP_LINE, 0)
            }
            for (int part = 0; part < rows; part += PART_ROWS) {
                floatv sum[PART_ROWS][VECTORS];
                EACH_PART_ROW(READ_SUM_ROW)
                for (int line = 0; line < 16; line++) {
                    __global const float *x = a + (long)(column + line) * ROWS + part;
                    EACH_VECTOR(FIND_LINE, 0)
                    EACH_PART_ROW(ADD_LOW_ROW)
                    EACH_PART_ROW(ADD_HIGH_ROW)
                }
                EACH_PART_ROW(WRITE_SUM_ROW)
            }
#endif
            column += 32;
        }
        EACH_VECTOR(NEXT_UNIT, 0)
    }
    floatv kept[ROWS * VECTORS];
    EACH_ROW(KEEP_ROW)
    store_tile(kept, first_row, rows, first, n, RESULT_ARGUMENTS);
}
